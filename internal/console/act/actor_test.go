package act

import (
	"context"
	"errors"
	"net/http"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/console"
)

// rights answers what the user may do.
type rights struct {
	verbs map[string]bool
	err   error
}

func (r rights) Create(_ context.Context, review *authorizationv1.SelfSubjectAccessReview, _ metav1.CreateOptions) (*authorizationv1.SelfSubjectAccessReview, error) {
	review.Status.Allowed = r.verbs[review.Spec.ResourceAttributes.Verb]
	return review, r.err
}

func root() *v1alpha1.Installation {
	return &v1alpha1.Installation{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "root", UID: "u", Finalizers: []string{"test/holds"}},
		Spec:       v1alpha1.InstallationSpec{Imports: v1alpha1.InstallationImports{Data: []v1alpha1.DataImport{{Name: "size", DataRef: "size"}}}},
	}
}

var forbidden = apierrors.NewForbidden(schema.GroupResource{Resource: "installations"}, "root", errors.New("you may not"))

// open returns an actor on a cluster with an Installation. Writes end with an error, if there is one.
func open(t *testing.T, installation *v1alpha1.Installation, wrong error) (*Actor, client.Client) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(installation).WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if wrong != nil {
				return wrong
			}
			return c.Patch(ctx, object, patch, options...)
		},
	}).Build()
	return New(c, rights{}, nil, nil), c
}

// TestDo: each action is the change that the command of the same name makes.
func TestDo(t *testing.T) {
	annotated := func(name, value string) func(*v1alpha1.Installation) bool {
		return func(i *v1alpha1.Installation) bool { return i.Annotations[name] == value }
	}
	operation := func(value v1alpha1.Operation) func(*v1alpha1.Installation) bool {
		return annotated(v1alpha1.OperationAnnotation, string(value))
	}
	tests := []struct {
		request console.Request
		is      func(*v1alpha1.Installation) bool
	}{
		{console.Request{Action: console.Reconcile}, operation("reconcile")},
		{console.Request{Action: console.ForceReconcile}, operation("force-reconcile")},
		{console.Request{Action: console.Interrupt}, operation("interrupt")},
		{console.Request{Action: console.Abort}, operation("abort")},
		{console.Request{Action: console.Skip}, annotated(v1alpha1.SkipAnnotation, "true")},
		{console.Request{Action: console.Unskip}, annotated(v1alpha1.SkipAnnotation, "")},
		{console.Request{Action: console.SetImports, Imports: []console.ImportText{{Name: "size", Text: "[1]", Anything: true}}}, func(i *v1alpha1.Installation) bool {
			return len(i.Spec.Imports.Data) == 0 && string(i.Spec.ImportDataMappings["size"].RawMessage) == "[1]"
		}},
		{console.Request{Action: console.Delete}, func(i *v1alpha1.Installation) bool {
			return i.DeletionTimestamp != nil && i.Annotations[v1alpha1.DeleteWithoutUninstallAnnotation] == ""
		}},
		{console.Request{Action: console.Delete, Keep: true}, func(i *v1alpha1.Installation) bool {
			return i.DeletionTimestamp != nil && i.Annotations[v1alpha1.DeleteWithoutUninstallAnnotation] == "true"
		}},
	}
	for _, test := range tests {
		t.Run(string(test.request.Action), func(t *testing.T) {
			actor, c := open(t, root(), nil)
			test.request.Namespace, test.request.Name, test.request.UID = "shop", "root", "u"
			if _, err := actor.Do(t.Context(), test.request); err != nil {
				t.Fatal(err)
			}
			found := &v1alpha1.Installation{}
			if err := c.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "root"}, found); err != nil || !test.is(found) {
				t.Errorf("%v %+v", err, found)
			}
			for _, action := range console.Actions {
				if action == test.request.Action {
					return
				}
			}
			t.Error("the action is not listed")
		})
	}
}

// TestRefused: what goes wrong has a status of its own, and is noted.
func TestRefused(t *testing.T) {
	part := root()
	part.Labels = map[string]string{v1alpha1.EncompassedByLabel: "platform"}
	tests := []struct {
		reason  string
		inst    *v1alpha1.Installation
		request console.Request
		wrong   error
		want    int
	}{
		{"another Installation took the name", root(), console.Request{Action: console.Delete, Name: "root", UID: "other"}, nil, 0},
		{"there is no such object", root(), console.Request{Action: console.Delete, Name: "absent", UID: "u"}, nil, http.StatusNotFound},
		{"a part has no jobs of its own", part, console.Request{Action: console.ForceReconcile, Name: "root", UID: "u"}, nil, http.StatusUnprocessableEntity},
		{"the API server refuses", root(), console.Request{Action: console.Reconcile, Name: "root", UID: "u"}, forbidden, http.StatusForbidden},
		{"the API server does not know the user any more", root(), console.Request{Action: console.Skip, Name: "root", UID: "u"}, apierrors.NewUnauthorized("expired"), http.StatusForbidden},
		{"no YAML", root(), console.Request{Action: console.SetImports, Name: "root", UID: "u", Imports: []console.ImportText{{Name: "size", Text: "[", Anything: true}}}, nil, http.StatusUnprocessableEntity},
		{"nothing to set", root(), console.Request{Action: console.SetImports, Name: "root", UID: "u"}, nil, http.StatusUnprocessableEntity},
		{"an action that there is not", root(), console.Request{Action: "rename", Name: "root", UID: "u"}, nil, http.StatusBadRequest},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			actor, _ := open(t, test.inst, test.wrong)
			noted := 0
			actor.noted = func(_ console.Request, err error) {
				if err != nil {
					noted++
				}
			}
			test.request.Namespace = "shop"
			_, err := actor.Do(t.Context(), test.request)
			var refusal *console.Refusal
			if test.want == 0 {
				if !errors.Is(err, console.ErrOther) {
					t.Error(err)
				}
			} else if !errors.As(err, &refusal) || refusal.Status != test.want {
				t.Errorf("%v, want status %d", err, test.want)
			}
			if noted != 1 {
				t.Errorf("noted %d times", noted)
			}
		})
	}
}

func TestMay(t *testing.T) {
	tests := []struct {
		reason  string
		rights  rights
		want    console.Rights
		failing bool
	}{
		{"all rights", rights{verbs: map[string]bool{"get": true, "patch": true, "delete": true}}, console.Rights{Change: true, Delete: true}, false},
		{"reads only", rights{verbs: map[string]bool{"get": true}}, console.Rights{}, false},
		{"may not read what is to be changed", rights{verbs: map[string]bool{"patch": true, "delete": true}}, console.Rights{}, false},
		{"the server may not act as this user", rights{err: forbidden}, console.Rights{}, false},
		{"no answer", rights{err: errors.New("connection refused")}, console.Rights{}, true},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got, err := New(nil, test.rights, nil, nil).May(t.Context(), "shop", "root")
			if got != test.want || (err != nil) != test.failing {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}
