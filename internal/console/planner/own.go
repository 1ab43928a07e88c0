package planner

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/console"
)

// UnreadableError says what the user of a console may not read. It says the same whether the object
// exists or not, and has no cause: what makes of a refusal that the server lacks a right would be wrong
// here.
type UnreadableError struct {
	Kind string
	Name client.ObjectKey
}

// Error implements error.
func (e *UnreadableError) Error() string {
	if e.Name.Namespace == "" {
		return fmt.Sprintf("you may not read %s %s", e.Kind, e.Name.Name)
	}
	return fmt.Sprintf("you may not read %s %s", e.Kind, e.Name)
}

// Own returns a reader with the rights of one user that says of what the user may not read just that.
func Own(c client.Client) client.Reader { return own{c} }

type own struct{ client client.Client }

// Get implements client.Reader.
func (o own) Get(ctx context.Context, name client.ObjectKey, into client.Object, options ...client.GetOption) error {
	err := o.client.Get(ctx, name, into, options...)
	if !apierrors.IsForbidden(err) {
		return err
	}
	return &UnreadableError{Kind: o.kindOf(into).Kind, Name: name}
}

// List implements client.Reader. Who reads lists passes over what may not be listed, and says so.
func (o own) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	return o.client.List(ctx, into, options...)
}

func (o own) kindOf(object client.Object) schema.GroupVersionKind {
	kind, err := o.client.GroupVersionKindFor(object)
	if err != nil {
		// All kinds are in the scheme of the client.
		return schema.GroupVersionKind{Kind: "object"}
	}
	return kind
}

// Explained gives an error of a plan the status of an answer.
func Explained(limit time.Duration) func(context.Context, error) error {
	return func(ctx context.Context, err error) error {
		var unreadable *UnreadableError
		switch {
		case err == nil:
			return nil
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return &console.Refusal{Status: http.StatusGatewayTimeout, Text: fmt.Sprintf("the plan takes longer than %s: landscaper-cli installations plan takes the time that it needs", limit)}
		case errors.As(err, &unreadable), apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
			// Not 401, by which pages know that a session has ended.
			return &console.Refusal{Status: http.StatusForbidden, Text: err.Error()}
		}
		return &console.Refusal{Status: http.StatusUnprocessableEntity, Text: err.Error()}
	}
}
