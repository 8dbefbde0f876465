package job

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"testing"

	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
)

// TestPoolServesSeveralTaskManagers checks that workers with one ID, those of two TaskManagers, run
// beside each other; that stopping one by its ID leaves the other alone; that one which is started
// again replaces the former; and that the pool's end ends all.
func TestPoolServesSeveralTaskManagers(t *testing.T) {
	p, err := newPool(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	alive := map[string]int{}
	changed := sync.NewCond(&mu)
	count := func(control string, by int) {
		mu.Lock()
		defer mu.Unlock()
		alive[control] += by
		changed.Broadcast()
	}
	wait := func(want map[string]int) {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		for fmt.Sprint(alive) != fmt.Sprint(want) {
			changed.Wait()
		}
	}
	p.work = func(ctx context.Context, r *fnpb.StartWorkerRequest) {
		count(r.GetControlEndpoint().GetUrl(), 1)
		<-ctx.Done()
		count(r.GetControlEndpoint().GetUrl(), -1)
	}
	start := func(control string) {
		t.Helper()
		at := &pipepb.ApiServiceDescriptor{Url: control}
		r, err := p.StartWorker(t.Context(), &fnpb.StartWorkerRequest{WorkerId: "1-1", ControlEndpoint: at, LoggingEndpoint: at})
		if err != nil || r.GetError() != "" {
			t.Fatalf("starting a worker for %s: %v, %q", control, err, r.GetError())
		}
	}
	start("a:1")
	start("b:1")
	wait(map[string]int{"a:1": 1, "b:1": 1})
	if r, err := p.StopWorker(t.Context(), &fnpb.StopWorkerRequest{WorkerId: "1-1"}); err != nil || r.GetError() != "" {
		t.Fatalf("%v, %q", err, r.GetError())
	}
	wait(map[string]int{"a:1": 1, "b:1": 1})
	start("a:1") // its TaskManager restarted the job
	wait(map[string]int{"a:1": 1, "b:1": 1})
	if n := p.workers(); n != 3 {
		t.Errorf("%d workers were started, want 3", n)
	}
	p.stop()
	wait(map[string]int{"a:1": 0, "b:1": 0})
	if r, _ := p.StartWorker(t.Context(), &fnpb.StartWorkerRequest{
		WorkerId: "2-1", ControlEndpoint: &pipepb.ApiServiceDescriptor{}, LoggingEndpoint: &pipepb.ApiServiceDescriptor{},
	}); r.GetError() == "" {
		t.Error("a pool that has ended starts a worker")
	}
}

// TestPoolIsOfThisMachine checks that other machines do not reach the pool, which works for whoever does.
func TestPoolIsOfThisMachine(t *testing.T) {
	p, err := newPool(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer p.stop()
	address, err := netip.ParseAddrPort(p.address)
	if err != nil || !address.Addr().IsLoopback() {
		t.Errorf("the pool listens on %s (%v)", p.address, err)
	}
}
