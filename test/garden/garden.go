// Package garden is test equipment: it turns a cluster of a lab into the API of a
// Gardener, as far as it is used from outside. Shoots are served by an aggregated API
// server of its own, behind the real API server of the cluster, which authenticates and
// authorizes. Behind a shoot is another cluster of the lab, and the credentials that the
// garden grants for it are client certificates that really work there until they end.
//
// It is written after the documented requests of Gardener. What it stores goes into a
// CustomResourceDefinition of the same cluster, so that lists, pages and watches are
// real.
package garden

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
)

// The names of the kinds, as they are served and as they are stored.
const (
	servedGroup = "core.gardener.cloud"
	storedGroup = "storage.garden.test"
	version     = "v1beta1"
)

// Garden is a cluster with shoots.
type Garden struct {
	// Cluster is the garden itself.
	Cluster *lab.Cluster

	admin  client.WithWatch
	server *http.Server
	store  *http.Client

	mutex sync.Mutex
	// behind are the clusters of the shoots.
	behind map[client.ObjectKey]*lab.Cluster
	// now is the clock that the ends of credentials follow.
	now func() time.Time
	// longest is how long the garden lets credentials live at most.
	longest time.Duration
	// disturbs answers in the place of the garden, if it does.
	disturbs func(http.ResponseWriter, *http.Request) bool
	// grants are the requests for credentials, granting how many are being answered, and
	// atOnce the most that were so far.
	grants           []Grant
	granting, atOnce int
}

// Grant is a request for credentials, as it came.
type Grant struct {
	Shoot       client.ObjectKey
	User        string
	ContentType string
	Body        []byte
	// Status is how it was answered.
	Status int
}

// Start makes a cluster a garden. It ends with Stop, or with the process.
func Start(ctx context.Context, cluster *lab.Cluster) (*Garden, error) {
	g := &Garden{Cluster: cluster, behind: map[client.ObjectKey]*lab.Cluster{}, longest: 24 * time.Hour, now: time.Now}
	var err error
	if g.admin, err = landscape.Connect(cluster.Kubeconfig); err != nil {
		return nil, err
	}
	if err := g.open(ctx); err != nil {
		return nil, fmt.Errorf("start the garden: %w", err)
	}
	return g, nil
}

func (g *Garden) open(ctx context.Context) error {
	authority, err := os.ReadFile(g.Cluster.CAFile)
	if err != nil {
		return err
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(authority)
	g.store = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}}}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	signer, err := readSigner(g.Cluster)
	if err != nil {
		return err
	}
	serving, err := signer.server("shoots.garden-system.svc")
	if err != nil {
		return err
	}
	vouching, err := g.frontProxies(ctx)
	if err != nil {
		return err
	}
	// Only the API server may name the user of a request.
	encrypted := tls.NewListener(listener, &tls.Config{
		Certificates: []tls.Certificate{serving}, ClientCAs: vouching, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12,
	})
	g.server = &http.Server{Handler: g.routes(), ReadHeaderTimeout: time.Minute}
	go func() { _ = g.server.Serve(encrypted) }() // it ends with Stop
	return g.register(ctx, listener.Addr().(*net.TCPAddr).Port, authority)
}

// frontProxies are the authorities of those who may vouch for users.
func (g *Garden) frontProxies(ctx context.Context) (*x509.CertPool, error) {
	known := &corev1.ConfigMap{}
	if err := g.admin.Get(ctx, client.ObjectKey{Namespace: "kube-system", Name: "extension-apiserver-authentication"}, known); err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(known.Data["requestheader-client-ca-file"])) {
		return nil, errors.New("the API server has no authority for aggregated API servers")
	}
	return pool, nil
}

// Stop ends the garden's API server. The cluster stays.
func (g *Garden) Stop() error { return g.server.Close() }

const registration = `apiVersion: v1
kind: Namespace
metadata: {name: garden-system}
---
apiVersion: v1
kind: Service
metadata: {name: shoots, namespace: garden-system}
spec: {type: ExternalName, externalName: 127.0.0.1}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shoots.storage.garden.test}
spec:
  group: storage.garden.test
  scope: Namespaced
  names: {kind: Shoot, listKind: ShootList, plural: shoots, singular: shoot}
  versions:
  - name: v1beta1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.core.gardener.cloud}
spec:
  group: core.gardener.cloud
  version: v1beta1
  groupPriorityMinimum: 1000
  versionPriority: 10
  service: {namespace: garden-system, name: shoots}
`

// register lets the API server of the cluster ask ours, and waits until both are ready.
func (g *Garden) register(ctx context.Context, port int, authority []byte) error {
	var service *unstructured.Unstructured
	for _, document := range bytes.Split([]byte(registration), []byte("---\n")) {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(document, &object.Object); err != nil {
			return err
		}
		if object.GetKind() == "APIService" {
			spec := object.Object["spec"].(map[string]any)
			spec["caBundle"] = authority
			spec["service"].(map[string]any)["port"] = int64(port)
			service = object
		}
		if err := g.admin.Create(ctx, object); err != nil {
			return fmt.Errorf("create %s: %w", object.GetKind(), err)
		}
	}
	return g.awaitAvailable(ctx, service)
}

func (g *Garden) awaitAvailable(ctx context.Context, service *unstructured.Unstructured) error {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(service.GetAPIVersion())
	list.SetKind("APIServiceList")
	events, err := g.admin.Watch(ctx, list, client.MatchingFields{"metadata.name": service.GetName()})
	if err != nil {
		return err
	}
	defer events.Stop()
	last := ""
	for event := range events.ResultChan() {
		seen, ok := event.Object.(*unstructured.Unstructured)
		if !ok {
			continue
		}
		conditions, _, _ := unstructured.NestedSlice(seen.Object, "status", "conditions")
		for _, condition := range conditions {
			fields, _ := condition.(map[string]any)
			if last = fmt.Sprint(fields["message"]); fields["type"] == "Available" && fields["status"] == "True" {
				return nil
			}
		}
	}
	return fmt.Errorf("the API server does not reach that of the garden: %s", last)
}
