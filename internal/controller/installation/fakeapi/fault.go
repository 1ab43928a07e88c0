package fakeapi

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// Fault lets one call of a reconciler to the API server fail.
type Fault struct {
	// Reading says that reads are counted, and not writes.
	Reading bool
	// At is the number of the call that fails; negative for none.
	At int
	// Lost says that only the answer is lost: the call has its effect.
	Lost bool
	Err  error
	// Restarts says that the process dies by it, with all that it remembers.
	Restarts bool
	// Dead says that nothing gets through after it: the process ends there, and carries out nothing more.
	Dead bool
	Then func()

	Calls []string
	Fired bool
	// Beginning is how many calls there were before the first step of the scene.
	Beginning int
}

// call makes a call, unless it is the one that fails.
func (f *Fault) call(reads bool, what string, object any, call func() error) error {
	if f.Dead && f.Fired {
		return f.Err
	}
	if reads != f.Reading {
		return call()
	}
	number := len(f.Calls)
	f.Calls = append(f.Calls, strings.ReplaceAll(fmt.Sprintf("%s %T", what, object), "*v1alpha1.", ""))
	if number != f.At {
		return call()
	}
	f.Fired = true
	if f.Then != nil {
		f.Then()
	}
	if f.Lost {
		if err := call(); err != nil {
			return err
		}
	}
	return f.Err
}

// Wrap returns a client with the fault.
func (f *Fault) Wrap(t *testing.T, to client.Client) client.Client {
	t.Helper()
	whole, ok := to.(client.WithWatch)
	if !ok {
		t.Fatal("the client cannot be wrapped")
	}
	return interceptor.NewClient(whole, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			return f.call(true, "get", object, func() error { return c.Get(ctx, key, object, options...) })
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			return f.call(true, "list", list, func() error { return c.List(ctx, list, options...) })
		},
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			return f.call(false, "create", object, func() error { return c.Create(ctx, object, options...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			return f.call(false, "update", object, func() error { return c.Update(ctx, object, options...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			return f.call(false, "patch", object, func() error { return c.Patch(ctx, object, patch, options...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			return f.call(false, "delete", object, func() error { return c.Delete(ctx, object, options...) })
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, subresource string, object client.Object, options ...client.SubResourceUpdateOption) error {
			return f.call(false, "status", object, func() error { return c.SubResource(subresource).Update(ctx, object, options...) })
		},
	})
}
