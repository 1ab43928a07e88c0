package targetsync

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/targetsync/syncplan"
)

// deletions records what is deleted, and on which conditions.
type deletions struct {
	client.Client
	asked map[string]client.DeleteOptions
}

// Delete implements client.Writer.
func (d *deletions) Delete(_ context.Context, object client.Object, options ...client.DeleteOption) error {
	asked := client.DeleteOptions{}
	asked.ApplyOptions(options)
	d.asked[object.GetName()] = asked
	return nil
}

// TestRemovesWhatItHasSeen: a Target that became foreign since it was read, because its label was
// removed, is not removed.
func TestRemovesWhatItHasSeen(t *testing.T) {
	sync, recorded := fleet(), &deletions{asked: map[string]client.DeleteOptions{}}
	target := &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{
		Name: "eu", UID: "uid", ResourceVersion: "7", Labels: map[string]string{v1alpha1.TargetSyncLabel: v1alpha1.TargetSyncLabelValue},
	}}
	r := &run{Reconciler: &Reconciler{Client: recorded}, sync: sync, memory: &memory{}}
	if err := r.removeOne(t.Context(), syncplan.World{Targets: map[string]*v1alpha1.Target{"eu": target}}, "eu"); err != nil {
		t.Fatal(err)
	}
	asked := recorded.asked["eu"].Preconditions
	if asked == nil || asked.UID == nil || *asked.UID != "uid" || asked.ResourceVersion == nil || *asked.ResourceVersion != "7" {
		t.Errorf("got %+v", asked)
	}
}

func TestWaits(t *testing.T) {
	answer := func(code int, reason metav1.StatusReason) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Code: int32(code), Reason: reason}}
	}
	invalid, internal := answer(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid), answer(http.StatusInternalServerError, metav1.StatusReasonInternalError)
	forbidden := answer(http.StatusForbidden, metav1.StatusReasonForbidden)
	tests := []struct {
		reason string
		of     syncplan.Shoot
		err    error
		want   bool
	}{
		{"a shoot in creation without an address is skipped", syncplan.Shoot{Creating: true}, invalid, true},
		{"a shoot in creation without an authority is skipped", syncplan.Shoot{Creating: true}, internal, true},
		{"a right is missing, created or not", syncplan.Shoot{Creating: true}, forbidden, false},
		{"an internal error of an old shoot is a failure", syncplan.Shoot{}, internal, false},
		{"a hibernated shoot is skipped", syncplan.Shoot{Hibernated: true}, internal, true},
		{"a missing permission for a hibernated shoot is a failure", syncplan.Shoot{Hibernated: true}, forbidden, false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := waits(&test.of, test.err); (got != "") != test.want {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestRemovesUnseenTarget: a Target whose creation got no answer, and that no cache shows, is removed
// before its Secret.
func TestRemovesUnseenTarget(t *testing.T) {
	for _, test := range []struct {
		reason string
		target *v1alpha1.Target
		fails  interceptor.Funcs
		left   []string
	}{
		{"a Target that no cache shows", ownTarget(unchanged), interceptor.Funcs{}, nil},
		{"there is no Target", nil, interceptor.Funcs{}, nil},
		{"a Target of others has the name", ownTarget(func(target *v1alpha1.Target) { target.Labels = nil }), interceptor.Funcs{}, []string{"Target"}},
		{"the API server does not say", ownTarget(unchanged), refuses("get", "Target", errors.New("connection reset")), []string{"Target", "Secret"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			objects := []client.Object{ownSecret(unchanged)}
			if test.target != nil {
				objects = append(objects, test.target)
			}
			r := runOn(t, test.fails, objects...)
			secret := &corev1.Secret{}
			if err := r.Reader.Get(t.Context(), client.ObjectKeyFromObject(objects[0]), secret); err != nil {
				t.Fatal(err)
			}
			w := syncplan.World{Secrets: map[string]syncplan.Secret{"eu": {Ours: true, Version: secret.ResourceVersion}}}
			if err := r.removeOne(t.Context(), w, "eu"); (err != nil) != (len(test.left) == 2) {
				t.Errorf("the error is %v", err)
			}
			targets, secrets := &v1alpha1.TargetList{}, &corev1.SecretList{}
			if err := errors.Join(r.Reader.List(t.Context(), targets), r.Reader.List(t.Context(), secrets)); err != nil {
				t.Fatal(err)
			}
			left := append(slices.Repeat([]string{"Target"}, len(targets.Items)), slices.Repeat([]string{"Secret"}, len(secrets.Items))...)
			if !slices.Equal(left, test.left) {
				t.Errorf("there are %v, not %v", left, test.left)
			}
		})
	}
}
