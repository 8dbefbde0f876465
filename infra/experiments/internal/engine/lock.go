package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
)

// Lock locks the folder of a state for a command: two commands that share it would make the same runs.
func Lock(ctx context.Context, state, commandLine string) (release func() error, err error) {
	l, err := lock.Acquire(ctx, state, commandLine, false)
	var held *lock.Held
	if errors.As(err, &held) {
		return nil, fmt.Errorf("--state %s is used by process %d on host %s since %s (%s): wait until it ends, or use another --state; if it has ended, as after a restart, remove %s",
			state, held.Owner.Process, held.Owner.Host, held.Owner.Begun.Format(time.DateTime+" MST"), held.Owner.Command, storage.Join(state, lock.FileName))
	}
	if err != nil {
		return nil, err
	}
	return func() error { return l.Release(context.WithoutCancel(ctx)) }, nil
}
