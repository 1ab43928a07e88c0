package server

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/runtime/crashnote"
	"go.landscaper.dev/internal/runtime/memguard"
	"go.landscaper.dev/internal/runtime/queue"
)

// pool is the pool of all controllers as the deployers see it.
type pool struct{ *cluster.Pool }

// Connect implements deployer.Clusters.
func (p pool) Connect(ctx context.Context, target *v1alpha1.Target) (deployer.Connection, error) {
	connection, err := p.Pool.Connect(ctx, target)
	if err != nil {
		return nil, err // says which Target
	}
	return connection, nil
}

// jobOrder is the order of all controllers as the deployers see it.
type jobOrder struct{ *queue.Order }

// Line implements deployer.Order.
func (o jobOrder) Line(atWork func(client.Object) (types.NamespacedName, bool)) deployer.Line {
	return o.Order.Line(atWork)
}

// itemAttempts are the notes of attempts and the guard of the memory as the deployers see them.
type itemAttempts struct {
	notes *crashnote.Notes
	guard *memguard.Guard
}

// Begin implements deployer.Attempts.
func (a itemAttempts) Begin(ctx context.Context, item types.NamespacedName, uid types.UID) (with context.Context, end func(error) error, err error) {
	key := crashnote.Key{Kind: "DeployItem", Namespace: item.Namespace, Name: item.Name, UID: uid}
	survived, err := a.notes.Begin(key)
	if err != nil {
		return nil, nil, err // says when, or why not
	}
	ctx, done := a.guard.Begin(ctx, key.String())
	return ctx, func(err error) error {
		err = memguard.Reason(ctx, err)
		done()
		survived()
		return err
	}, nil
}
