package act

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/console"
	"go.landscaper.dev/internal/landscape/deliveryplan"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/preview"
)

// digestOf is a digest with a name of one character.
func digestOf(name string) string { return "sha256:" + strings.Repeat(name, 64) }

// storedPlan is a plan of the root that changes an object, worked out some time ago.
func storedPlan(t *testing.T, digest string, age time.Duration, text string, unknown int32) []client.Object {
	t.Helper()
	content, err := deliveryplan.Encode(&preview.Result{Digest: digest, Items: []preview.Item{{Path: "root/web", Changes: []diff.Change{{
		Action: diff.Update, Kind: "ConfigMap", Name: "web", Fields: []diff.Field{{Path: "data.a", Before: "0", After: text}},
	}}}}, Summary: diff.Summary{Update: 1}}, deliveryplan.Permits{})
	if err != nil {
		t.Fatal(err)
	}
	spec := deliveryv1alpha1.DeliveryPlanSpec{Installation: deliveryv1alpha1.PlannedInstallation{Name: "root", UID: "u"}, Digest: digest, Summary: deliveryv1alpha1.PlanSummary{Change: 1, Unknown: unknown}}
	var objects []client.Object
	for _, object := range deliveryplan.Objects(root(), spec, content) {
		object.CreationTimestamp = metav1.NewTime(time.Unix(1_800_000_000, 0).Add(-age))
		objects = append(objects, object)
	}
	return objects
}

func given(digest, user string) client.Object {
	return &deliveryv1alpha1.DeliveryApproval{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a-" + user + digest[7:9], CreationTimestamp: metav1.Now()},
		Spec:       deliveryv1alpha1.DeliveryApprovalSpec{Installation: "root", Digest: digest, ApprovedBy: user, AcceptUnknown: true},
	}
}

// approver returns an actor for the user ann, on a cluster with objects. Some requests fail.
func approver(t *testing.T, may bool, fails func(client.Object) error, objects ...client.Object) (*Actor, client.Client) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(v1alpha1.AddToScheme(scheme), deliveryv1alpha1.AddToScheme(scheme), authenticationv1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(append(objects, root())...).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if review, is := object.(*authenticationv1.SelfSubjectReview); is {
				review.Status.UserInfo.Username = "ann"
				return nil
			}
			if fails != nil {
				return fails(object)
			}
			return c.Create(ctx, object, options...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if _, policies := list.(*deliveryv1alpha1.DeliveryPolicyList); policies && !may {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "deliverypolicies"}, "", errors.New("you may not"))
			}
			return c.List(ctx, list, options...)
		},
	}).Build()
	return New(c, rights{verbs: map[string]bool{"create": may}}, nil, nil), c
}

// TestStored: what a user sees of the plan that waits.
func TestStored(t *testing.T) {
	old, present := storedPlan(t, digestOf("a"), time.Hour, "1", 0), storedPlan(t, digestOf("b"), 0, "2", 3)
	two := &deliveryv1alpha1.DeliveryPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "p"}, Spec: deliveryv1alpha1.DeliveryPolicySpec{Approval: &deliveryv1alpha1.ApprovalRule{Approvers: 2}}}
	partial, own := given(digestOf("b"), "bob"), given(digestOf("b"), "ann")
	partial.(*deliveryv1alpha1.DeliveryApproval).Spec.AcceptUnknown = false
	own.SetCreationTimestamp(metav1.NewTime(time.Now().Add(-25 * time.Hour)))
	outdated := storedPlan(t, digestOf("c"), 0, "2", 3)
	outdated[0].(*deliveryv1alpha1.DeliveryPlan).Spec.Installation.Generation = -1
	other := given(digestOf("b"), "eve")
	other.(*deliveryv1alpha1.DeliveryApproval).Spec.Installation = "other"
	for _, test := range []struct {
		reason  string
		may     bool
		objects []client.Object
		// digest, refusal, needs and by are those of the answer; earlier are the lines that differ.
		digest, refusal string
		needs           int
		by, earlier     string
	}{
		{"nothing is stored", true, nil, "", "", 0, "", ""},
		{"no user has approved it", true, append([]client.Object{two}, present...), digestOf("b"), "", 2, "", ""},
		{"a plan and the one before", true, slices.Concat(old, present, []client.Object{given(digestOf("a"), "bob"), other}), digestOf("b"), "", 0, "", "delete     data.a: + 1,create     data.a: + 2"},
		{"another user has approved it", true, append([]client.Object{two, given(digestOf("b"), "bob")}, present...), digestOf("b"), "", 2, "bob", ""},
		{"another user has not accepted the unknown parts", true, append([]client.Object{two, partial}, present...), digestOf("b"), "", 2, "", ""},
		{"the user has, too long ago", true, append([]client.Object{two, own}, present...), digestOf("b"), "Your approval of this plan does not count: delete the DeliveryApproval to approve the plan again.", 2, "", ""},
		{"the specification was changed since", true, outdated, "", "", 0, "", ""},
		{"the user has", true, append([]client.Object{two, given(digestOf("b"), "ann")}, present...), digestOf("b"), "You have approved this plan.", 2, "ann", ""},
		{"the user may not approve, and not read what is demanded", false, append([]client.Object{two}, present...), digestOf("b"), "You may not create DeliveryApprovals in this namespace.", 0, "", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			// The fake cluster gives all objects the same version: the times say which plan is newer.
			actor, _ := approver(t, test.may, nil, test.objects...)
			stored, err := actor.Stored(t.Context(), root())
			if err != nil {
				t.Fatal(err)
			}
			digest, earlier := "", ""
			if stored.Plan != nil {
				digest = stored.Plan.Digest
			}
			if stored.Earlier != nil {
				var lines []string
				for _, line := range stored.Earlier.Lines {
					lines = append(lines, string(line.Action)+" "+line.Text)
				}
				earlier = strings.Join(lines, ",")
				if stored.Earlier.Digest != digestOf("a") || !slices.Equal(stored.Earlier.ApprovedBy, []string{"bob"}) {
					t.Errorf("the earlier plan is %+v", stored.Earlier)
				}
			}
			if digest != test.digest || stored.Refusal != test.refusal || stored.Needs != test.needs || strings.Join(stored.ApprovedBy, " ") != test.by || earlier != test.earlier {
				t.Errorf("%+v, %q", stored, earlier)
			}
			if digest != "" && (stored.Unknown != 3 || stored.UID != "u" || len(stored.Plan.Items) != 1) {
				t.Errorf("%+v", stored)
			}
		})
	}
}

// TestApprove: a user approves the plan that was shown, or none.
func TestApprove(t *testing.T) {
	for _, test := range []struct {
		reason  string
		request console.Request
		unknown int32
		fails   error
		want    int
	}{
		{"the plan that was shown", console.Request{Digest: digestOf("b"), Comment: "CHG-17"}, 0, nil, http.StatusOK},
		{"no plan is named", console.Request{}, 0, nil, http.StatusUnprocessableEntity},
		{"another one is stored by now", console.Request{Digest: digestOf("c")}, 0, nil, http.StatusConflict},
		{"one whose name begins in the same way", console.Request{Digest: "sha256:" + strings.Repeat("b", 63) + "c"}, 0, nil, http.StatusConflict},
		{"unknown parts are a choice of their own", console.Request{Digest: digestOf("b")}, 2, nil, http.StatusUnprocessableEntity},
		{"and are chosen", console.Request{Digest: digestOf("b"), AcceptUnknown: true}, 2, nil, http.StatusOK},
		{"the API server refuses", console.Request{Digest: digestOf("b")}, 0, forbidden, http.StatusForbidden},
		{"the user has approved it", console.Request{Digest: digestOf("b")}, 0, apierrors.NewAlreadyExists(schema.GroupResource{Resource: "deliveryapprovals"}, "x"), http.StatusConflict},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var fails func(client.Object) error
			if test.fails != nil {
				fails = func(client.Object) error { return test.fails }
			}
			actor, c := approver(t, true, fails, storedPlan(t, digestOf("b"), 0, "2", test.unknown)...)
			test.request.Action, test.request.Namespace, test.request.Name, test.request.UID = console.Approve, "shop", "root", "u"
			_, err := actor.Do(t.Context(), test.request)
			status := http.StatusOK
			var refusal *console.Refusal
			if errors.As(err, &refusal) {
				status = refusal.Status
			} else if err != nil {
				t.Fatal(err)
			}
			list := &deliveryv1alpha1.DeliveryApprovalList{}
			if err := c.List(t.Context(), list); err != nil || status != test.want || (len(list.Items) == 1) != (test.want == http.StatusOK) {
				t.Fatalf("%d %v, approvals %+v, %v", status, refusal, list.Items, err)
			}
			if test.want != http.StatusOK {
				return
			}
			got := list.Items[0]
			want := deliveryv1alpha1.DeliveryApprovalSpec{Installation: "root", Digest: digestOf("b"), ApprovedBy: "ann", AcceptUnknown: test.request.AcceptUnknown, Comment: test.request.Comment}
			if got.Spec != want || len(got.OwnerReferences) != 1 || got.OwnerReferences[0].Name != deliveryplan.NameOf("root", digestOf("b")) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestStoredElsewhere: a cluster without the kinds, and a console that only reads.
func TestStoredElsewhere(t *testing.T) {
	none := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
		return fmt.Errorf("list: %w", &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "DeliveryPlan"}})
	}}).Build()
	var refusal *console.Refusal
	if _, err := New(none, rights{}, nil, nil).Stored(t.Context(), root()); !errors.As(err, &refusal) || refusal.Status != http.StatusNotFound {
		t.Errorf("%v", err)
	}
	_, c := approver(t, true, nil, storedPlan(t, digestOf("b"), 0, "2", 0)...)
	stored, err := PlansOnly{Client: c}.Stored(t.Context(), root())
	if err != nil || stored.Plan == nil || stored.Refusal != "This console only reads." {
		t.Errorf("%+v, %v", stored, err)
	}
	if reviews, err := New(c, rights{err: errors.New("connection refused")}, nil, nil).may(t.Context(), authorizationv1.ResourceAttributes{}); err == nil || reviews {
		t.Errorf("%t, %v", reviews, err)
	}
}
