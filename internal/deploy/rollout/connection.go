package rollout

import (
	"context"
	"fmt"

	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/cluster"
)

// Connect returns the connection to the cluster of an item, with all that our deployers ask
// through it: other deployers see less of it.
func Connect(ctx context.Context, item *deployer.Item) (*cluster.Connection, error) {
	return whole(item.Cluster(ctx))
}

// whole returns what is behind a connection of the library.
func whole(connection deployer.Connection, err error) (*cluster.Connection, error) {
	if err != nil {
		return nil, err // says what the item waits for
	}
	known, ok := connection.(*cluster.Connection)
	if !ok {
		return nil, fmt.Errorf("use a connection of kind %T: our deployers need those of a pool", connection)
	}
	return known, nil
}
