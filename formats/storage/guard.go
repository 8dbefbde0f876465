package storage

import "context"

// guardKey is the key of a context's guard.
type guardKey struct{}

// WithGuard returns a context in which files change only while check returns nil: Create, the Commit
// of its writers, Remove and RemoveAll call check first and return its error. A run that writes for
// hours checks so, before every file and before each appears, that no other run took its folder over.
func WithGuard(ctx context.Context, check func(context.Context) error) context.Context {
	return context.WithValue(ctx, guardKey{}, check)
}

func guarded(ctx context.Context) error {
	if check, ok := ctx.Value(guardKey{}).(func(context.Context) error); ok {
		return check(ctx)
	}
	return nil
}

// guardedWriter calls the guard before the file appears.
type guardedWriter struct {
	Writer
	ctx context.Context
}

// Commit drops the file if the guard returns an error.
func (w guardedWriter) Commit() error {
	if err := guarded(w.ctx); err != nil {
		w.Abort()
		return err
	}
	return w.Writer.Commit()
}
