// Package act carries out what visitors of a console ask for, with clients that have their rights: what
// a visitor may not do, the API server refuses. What an action is, package requests says.
package act

import (
	"context"
	"fmt"
	"net/http"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/console"
	"go.landscaper.dev/internal/landscape/requests"
)

// Reviews asks what the user of a client may do.
type Reviews interface {
	Create(ctx context.Context, review *authorizationv1.SelfSubjectAccessReview, options metav1.CreateOptions) (*authorizationv1.SelfSubjectAccessReview, error)
}

// Actor implements console.Actor.
type Actor struct {
	client  client.Client
	reviews Reviews
	planner console.Planner
	noted   func(console.Request, error)
}

// New returns what acts with the rights of the user of both clients. Planner may be nil, and so may
// noted, which is called after each request.
func New(c client.Client, reviews Reviews, planner console.Planner, noted func(console.Request, error)) *Actor {
	return &Actor{client: c, reviews: reviews, planner: planner, noted: noted}
}

// Planner implements console.Actor.
func (a *Actor) Planner() console.Planner { return a.planner }

// May implements console.Actor. An operation is read first, and then written.
func (a *Actor) May(ctx context.Context, namespace, name string) (console.Rights, error) {
	may := map[string]bool{}
	for _, verb := range []string{"get", "patch", "delete"} {
		allowed, err := a.may(ctx, authorizationv1.ResourceAttributes{
			Verb: verb, Group: console.Installations.Group, Resource: console.Installations.Resource, Namespace: namespace, Name: name,
		})
		if err != nil {
			return console.Rights{}, err // says what was asked
		}
		may[verb] = allowed
	}
	return console.Rights{Change: may["get"] && may["patch"], Delete: may["get"] && may["delete"]}, nil
}

// Do implements console.Actor.
func (a *Actor) Do(ctx context.Context, request console.Request) ([]string, error) {
	remarks, err := a.do(ctx, request)
	if a.noted != nil {
		a.noted(request, err)
	}
	return remarks, explained(err)
}

func (a *Actor) do(ctx context.Context, request console.Request) ([]string, error) {
	key := client.ObjectKey{Namespace: request.Namespace, Name: request.Name}
	present := &v1alpha1.Installation{}
	if err := a.client.Get(ctx, key, present); err != nil {
		return nil, fmt.Errorf("read the Installation: %w", err)
	}
	if present.UID != request.UID {
		return nil, console.ErrOther
	}
	switch request.Action {
	case console.Reconcile, console.ForceReconcile:
		if err := requests.CheckRoot(present); err != nil {
			return nil, &console.Refusal{Status: http.StatusUnprocessableEntity, Text: err.Error()}
		}
		return a.request(ctx, key, request)
	case console.Interrupt, console.Abort:
		return a.request(ctx, key, request)
	case console.Skip, console.Unskip:
		return nil, requests.Skip(ctx, a.client, present, request.Action == console.Skip)
	case console.SetImports:
		return a.setImports(ctx, key, request)
	case console.Approve:
		return nil, a.approve(ctx, present, request)
	case console.Delete:
		return nil, requests.Delete(ctx, a.client, present, request.Keep)
	}
	return nil, &console.Refusal{Status: http.StatusBadRequest, Text: "there is no such action"}
}

func (a *Actor) request(ctx context.Context, key client.ObjectKey, request console.Request) ([]string, error) {
	before, err := requests.Request(ctx, a.client, key, v1alpha1.Operation(request.Action))
	if err != nil {
		return nil, err // says what failed
	}
	return requests.Remarks(before, v1alpha1.Operation(request.Action)), nil
}

func (a *Actor) setImports(ctx context.Context, key client.ObjectKey, request console.Request) ([]string, error) {
	values := make([]requests.ImportValue, len(request.Imports))
	for i, text := range request.Imports {
		value, err := requests.ReadImportValue(text.Name, text.Text, text.Anything)
		if err != nil {
			return nil, &console.Refusal{Status: http.StatusUnprocessableEntity, Text: err.Error()}
		}
		values[i] = value
	}
	if len(values) == 0 {
		return nil, &console.Refusal{Status: http.StatusUnprocessableEntity, Text: "no import was given a value"}
	}
	_, err := requests.SetImports(ctx, a.client, key, values)
	return []string{"No job was started: reconcile does."}, err
}

// explained gives what the API server has said to an answer.
func explained(err error) error {
	if err == nil {
		return nil
	}
	var status int
	switch apierrors.ReasonForError(err) {
	case metav1.StatusReasonForbidden, metav1.StatusReasonUnauthorized:
		// Not 401, by which pages know that a session has ended.
		status = http.StatusForbidden
	case metav1.StatusReasonNotFound:
		status = http.StatusNotFound
	case metav1.StatusReasonConflict:
		status = http.StatusConflict
	case metav1.StatusReasonInvalid, metav1.StatusReasonBadRequest:
		status = http.StatusUnprocessableEntity
	default:
		return err
	}
	return &console.Refusal{Status: status, Text: err.Error()}
}

// PlansOnly shows its visitor plans, and does nothing else for the visitor.
type PlansOnly struct {
	Plans console.Planner
	// Client has the rights of the visitor.
	Client client.Client
}

// Planner implements console.Actor.
func (p PlansOnly) Planner() console.Planner { return p.Plans }

// May implements console.Actor.
func (PlansOnly) May(context.Context, string, string) (console.Rights, error) {
	return console.Rights{}, nil
}

// Do implements console.Actor.
func (PlansOnly) Do(context.Context, console.Request) ([]string, error) {
	return nil, &console.Refusal{Status: http.StatusForbidden, Text: "this console only reads"}
}
