package server

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/runtime/crashnote"
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

// itemNotes are the notes of attempts as the deployers see them.
type itemNotes struct{ *crashnote.Notes }

// Begin implements deployer.Attempts.
func (n itemNotes) Begin(item types.NamespacedName, uid types.UID) (done func(), err error) {
	return n.Notes.Begin(crashnote.Key{Kind: "DeployItem", Namespace: item.Namespace, Name: item.Name, UID: uid})
}
