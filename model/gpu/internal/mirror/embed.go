package mirror

// Embed sets the relation embeddings that depend on the query: a row of the map times the query's embedding, in four interleaved sums.
func (p *Batch) Embed() {
	outputs := p.RelationCount * p.Dim
	for t := 1; t <= p.Layers; t++ {
		layer := p.layer(t)
		for o := range outputs {
			w := layer[p.RelationAt+o*p.Dim:]
			for b := range p.Batch {
				var sum [4]float32
				for j, x := range p.queryEmbedding(b) {
					sum[j%4] = fma(w[j], x, sum[j%4])
				}
				p.Dependent[(b*p.Layers+t-1)*outputs+o] = layer[p.RelationBiasAt+o] + ((sum[0] + sum[1]) + (sum[2] + sum[3]))
			}
		}
	}
}

// Arrange sets the linear maps by feature, and transposed.
func (p *Batch) Arrange() {
	width, columns, stored := p.Width, p.Columns, p.storedColumns()
	for t := 1; t <= p.Layers; t++ {
		maps, transposed := p.Maps[(t-1)*width*columns:], p.Transposed[(t-1)*width*columns:]
		for f := range width {
			for column := range columns {
				w, at := float32(0), p.stored(f, column/p.Dim)
				if at >= 0 {
					w = p.layer(t)[p.LinearAt+column%p.Dim*stored+at]
				}
				maps[f*columns+column], transposed[column*width+f] = w, w
			}
		}
	}
}

// MLPArrange sets the weights of states in a number of MLPs in the order of dimensions.
func (p *Batch) MLPArrange() {
	hidden, mlps := p.hidden(), 1
	if p.Specific {
		mlps = 2
	}
	for mlp := range mlps {
		weights := p.Parameters[p.mlp(mlp == 1):]
		for i := range p.Dim * hidden {
			p.MLPMaps[mlp*p.Dim*hidden+i] = weights[i%hidden*hidden+i/hidden]
		}
	}
}

// MLPShift sets the part of the first layers of a number of MLPs that depends on the query's embedding: b + W x_q.
func (p *Batch) MLPShift(mlps int) {
	hidden := p.hidden()
	for mlp := range mlps {
		weights := p.Parameters[p.mlp(mlp == 1):]
		for b := range p.Batch {
			for h := range hidden {
				sum := float32(0)
				for j, x := range p.queryEmbedding(b) {
					sum = fma(weights[h*hidden+p.Dim+j], x, sum)
				}
				p.Shift[(mlp*p.Batch+b)*hidden+h] = weights[hidden*hidden+h] + sum
			}
		}
	}
}

// mlp returns the index of an MLP's parameters: that of the attention or of the scores.
func (p *Batch) mlp(attention bool) int {
	if attention {
		return p.AttentionAt
	}
	return p.MLPAt
}
