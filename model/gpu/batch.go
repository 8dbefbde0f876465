package gpu

import "tagnet/model/device"

// encodedQuery is the kernels' struct Query.
type encodedQuery struct {
	Source, Relation, Inverse, Answer int32
	Removal                           int32 // 0: nothing, 1: the fact's two edges, 2: all edges between source and answer
	SourceDrop, AnswerDrop            int32 // in-edges that the ends lose
	Candidates                        int32
	Seed                              uint64
}

// scale is the kernels' struct Scale: 1 / (degree + 1) and the scalers c and 1 / max(c, 0.01).
type scale struct{ Divisor, Up, Down, _ float32 }

// link is the kernels' struct Link.
type link struct{ Sender, Inverse, Reverse, Slot int32 }

// answer is the kernels' struct Answer.
type answer struct{ Query, Entity int32 }

// rowSize is the size of the kernels' struct Row.
const rowSize = 32

// batch is the kernels' struct Batch, field by field; model.cuh explains them.
type batch struct {
	Offsets, Senders, Relations     device.Pointer
	Links                           device.Pointer
	Heavy                           device.Pointer
	Scales                          device.Pointer
	PieceBegin                      device.Pointer
	RelationPieces                  device.Pointer
	Queries                         device.Pointer
	CandidateEntities, Multiplicity device.Pointer
	Parameters                      device.Pointer
	Gradients                       device.Pointer
	Distances                       device.Pointer
	Frontier, Found                 device.Pointer
	Seen                            device.Pointer
	Active                          device.Pointer
	Slots                           device.Pointer
	Counts                          device.Pointer
	Starts                          device.Pointer
	RowBegin                        device.Pointer
	HeavyEnd                        device.Pointer
	Rows                            device.Pointer
	RowNumbers                      device.Pointer
	RowDegree                       device.Pointer
	RowAdmitted, RowSent            device.Pointer
	Masks                           device.Pointer
	Dependent                       device.Pointer
	Maps                            device.Pointer
	Transposed                      device.Pointer
	States                          device.Pointer
	Features                        device.Pointer
	Normalized                      device.Pointer
	Deviations                      device.Pointer
	Shift                           device.Pointer
	Final                           device.Pointer
	Hidden                          device.Pointer
	Scores                          device.Pointer
	ScoreGradients                  device.Pointer
	HiddenGradients                 device.Pointer
	Attention                       device.Pointer
	Losses                          device.Pointer
	FinalGradients                  device.Pointer
	Gradient                        device.Pointer
	Linear                          device.Pointer
	Affine                          device.Pointer
	FeatureGradients                device.Pointer
	DegreeGradients                 device.Pointer
	Boundary                        device.Pointer
	Attained                        device.Pointer
	Extremes                        device.Pointer
	RunSums                         device.Pointer
	RunLayers                       device.Pointer
	RelationPartial                 device.Pointer
	RelationGradients               device.Pointer
	QueryGradients                  device.Pointer
	Partial                         device.Pointer
	Bad                             device.Pointer
	Sent                            device.Pointer

	Entities, Edges, RelationCount, Layers, Ages, Delta, Batch, HeavyCount                    int32
	Pieces, CandidateStride, Reduction, Specific                                              int32
	Training, DependentRelations, Bias, DegreeMessages                                        int32
	LayerSize, LinearAt, LinearBiasAt, ScaleAt, ShiftAt, RelationAt, RelationBiasAt, DegreeAt int32
	QueryAt, MLPAt, AttentionAt, Accumulate                                                   int32
	Threshold, Parts, Live                                                                    int32
	KeepScale, Temperature, AttentionTemperature, Share                                       float32
}
