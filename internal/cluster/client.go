package cluster

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Client returns a client for the cluster that knows the kinds of a scheme. It shares the transport
// of the connection, with its credentials and its policy.
func (c *Connection) Client(scheme *runtime.Scheme) (client.Client, error) {
	return client.New(&rest.Config{Host: c.server, QPS: -1}, client.Options{HTTPClient: c.httpClient, Scheme: scheme})
}
