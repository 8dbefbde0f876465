// Package jobtest gives tests a job server in their process that speaks Beam's job API. It runs no
// pipeline: a test decides which states and messages a job reports.
package jobtest

import (
	"context"
	"net"
	"sync"
	"testing"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// ID is the id of each job.
const ID = "job-1"

// Server is a job server.
type Server struct {
	jobpb.UnimplementedJobServiceServer
	jobpb.UnimplementedArtifactStagingServiceServer

	// Endpoint is its address.
	Endpoint string

	play     func(j *Job)
	grpc     *grpc.Server
	mu       sync.Mutex
	job      *Job
	prepared *jobpb.PrepareJobRequest
}

// Job is the job that a client has submitted.
type Job struct {
	// Canceled is closed when the client cancels the job.
	Canceled chan struct{}

	mu      sync.Mutex
	changed *sync.Cond
	state   jobpb.JobState_Enum
	events  []*jobpb.JobMessagesResponse
}

// Start starts a job server that ends with the test. play decides what a job reports.
func Start(t testing.TB, play func(j *Job)) *Server {
	t.Helper()
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Endpoint: listener.Addr().String(), play: play, grpc: grpc.NewServer()}
	jobpb.RegisterJobServiceServer(s.grpc, s)
	jobpb.RegisterArtifactStagingServiceServer(s.grpc, s)
	go s.grpc.Serve(listener)
	t.Cleanup(s.Stop)
	return s
}

// Stop ends the server, as if its process died.
func (s *Server) Stop() { s.grpc.Stop() }

// Pipeline returns the submitted pipeline, or nil.
func (s *Server) Pipeline() *pipepb.Pipeline {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.prepared.GetPipeline()
}

// State reports a state.
func (j *Job) State(state jobpb.JobState_Enum) {
	j.add(state, &jobpb.JobMessagesResponse{Response: &jobpb.JobMessagesResponse_StateResponse{
		StateResponse: &jobpb.JobStateEvent{State: state},
	}})
}

// Error reports the text of an error.
func (j *Job) Error(text string) {
	j.add(-1, &jobpb.JobMessagesResponse{Response: &jobpb.JobMessagesResponse_MessageResponse{
		MessageResponse: &jobpb.JobMessage{Importance: jobpb.JobMessage_JOB_MESSAGE_ERROR, MessageText: text},
	}})
}

// add records an event and the state it leads to; a negative state leaves the state.
func (j *Job) add(state jobpb.JobState_Enum, event *jobpb.JobMessagesResponse) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if state >= 0 {
		j.state = state
	}
	j.events = append(j.events, event)
	j.changed.Broadcast()
}

func final(s jobpb.JobState_Enum) bool {
	return s == jobpb.JobState_DONE || s == jobpb.JobState_FAILED || s == jobpb.JobState_CANCELLED
}

// Prepare implements the job API.
func (s *Server) Prepare(_ context.Context, r *jobpb.PrepareJobRequest) (*jobpb.PrepareJobResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prepared = r
	return &jobpb.PrepareJobResponse{
		PreparationId: "preparation", StagingSessionToken: "token",
		ArtifactStagingEndpoint: &pipepb.ApiServiceDescriptor{Url: s.Endpoint},
	}, nil
}

// ReverseArtifactRetrievalService implements the job API. It asks for no file.
func (s *Server) ReverseArtifactRetrievalService(stream jobpb.ArtifactStagingService_ReverseArtifactRetrievalServiceServer) error {
	_, err := stream.Recv()
	return err
}

// Run implements the job API.
func (s *Server) Run(context.Context, *jobpb.RunJobRequest) (*jobpb.RunJobResponse, error) {
	j := &Job{Canceled: make(chan struct{})}
	j.changed = sync.NewCond(&j.mu)
	s.mu.Lock()
	s.job = j
	s.mu.Unlock()
	go s.play(j)
	return &jobpb.RunJobResponse{JobId: ID}, nil
}

// find returns the job of an id, or the error NotFound.
func (s *Server) find(id string) (*Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.job == nil || id != ID {
		return nil, status.Error(codes.NotFound, "no such job")
	}
	return s.job, nil
}

// GetState implements the job API.
func (s *Server) GetState(_ context.Context, r *jobpb.GetJobStateRequest) (*jobpb.JobStateEvent, error) {
	j, err := s.find(r.GetJobId())
	if err != nil {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return &jobpb.JobStateEvent{State: j.state}, nil
}

// Cancel implements the job API. The job's player decides whether the job ends.
func (s *Server) Cancel(_ context.Context, r *jobpb.CancelJobRequest) (*jobpb.CancelJobResponse, error) {
	j, err := s.find(r.GetJobId())
	if err != nil {
		return nil, err
	}
	close(j.Canceled)
	return &jobpb.CancelJobResponse{State: jobpb.JobState_CANCELLING}, nil
}

// GetMessageStream implements the job API.
func (s *Server) GetMessageStream(r *jobpb.JobMessagesRequest, stream jobpb.JobService_GetMessageStreamServer) error {
	j, err := s.find(r.GetJobId())
	if err != nil {
		return err
	}
	defer context.AfterFunc(stream.Context(), j.changed.Broadcast)()
	for sent := 0; ; sent++ {
		j.mu.Lock()
		for sent == len(j.events) && !final(j.state) && stream.Context().Err() == nil {
			j.changed.Wait()
		}
		if sent == len(j.events) {
			j.mu.Unlock()
			return stream.Context().Err()
		}
		event := j.events[sent]
		j.mu.Unlock()
		if err := stream.Send(event); err != nil {
			return err
		}
	}
}
