package preview

import (
	"context"
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/deploy/rollout"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/runtime/memguard"
)

// renders makes an item of some bytes, again and again.
type renders struct {
	plan.Maker
	bytes, calls int
}

func (r *renders) Make(context.Context, plan.Input, plan.Want) (*plan.Made, error) {
	r.calls++
	item := v1alpha1.DeployItemTemplate{Configuration: &runtime.RawExtension{Raw: []byte(strings.Repeat("x", r.bytes))}}
	return &plan.Made{Children: &plan.Children{DeployItems: v1alpha1.DeployItemTemplateList{item}}}, nil
}

// TestHeld: a tree is not worked out further when a plan holds more than it may.
func TestHeld(t *testing.T) {
	errTooLarge := errors.New("too large")
	for _, test := range []struct {
		reason      string
		most        int64
		bytes, want int
		guard       *memguard.Guard
		err         error
	}{
		{"as much as it may", 1000, 100, 10, nil, nil},
		{"without a limit", 0, 1 << 20, 10, nil, nil},
		{"the fourth Installation is too much, and no other one is rendered", 1000, 300, 4, nil, errTooLarge},
		{"the memory of the server is used up", 1 << 30, 600 << 10, 2, memguard.New(1, nil), memguard.ErrFull},
	} {
		t.Run(test.reason, func(t *testing.T) {
			ctx, done := test.guard.Begin(t.Context(), "plan")
			defer done()
			inner := &renders{bytes: test.bytes}
			c := &comparison{Previewer: &Previewer{Most: test.most, TooLarge: errTooLarge}}
			m := maker{inner, c}
			var err error
			for range 10 {
				_, err = m.Make(ctx, plan.Input{}, plan.Want{})
			}
			if !errors.Is(err, test.err) || inner.calls != test.want {
				t.Errorf("%v after %d Installations, want %v after %d", err, inner.calls, test.err, test.want)
			}
			if _, err := c.whole(ctx); !errors.Is(err, test.err) {
				t.Errorf("the result is %v", err)
			}
		})
	}
}

// TestSizeOf: an object counts with all that is known of it.
func TestSizeOf(t *testing.T) {
	state := map[string]any{"data": map[string]any{"text": strings.Repeat("x", 1000)}}
	found := rollout.Forecast{Objects: []diff.Object{{Before: state, After: state, Applied: state}, {Left: state}, {}}}
	if size := sizeOf(found); size < 4000 || size > 6000 {
		t.Errorf("%d bytes", size)
	}
}
