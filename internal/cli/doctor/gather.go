package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/doctor/diagnosis"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/cluster/clustererror"
	"go.landscaper.dev/internal/landscape/inspect/reading"
	"go.landscaper.dev/internal/server/install"
)

const (
	// answer is how long the API server may take to tell its version.
	answer = 10 * time.Second
	// abreast is how many clusters are asked at the same time.
	abreast = 16
)

// gather looks at everything. What may not be read is noted, and is no error.
func gather(ctx context.Context, on *connection.Connection, tokens *connection.TokenFlag, scope string) (facts diagnosis.Facts, err error) {
	if facts.Version, facts.Server, err = version(ctx, on); err != nil {
		return facts, err
	}
	if facts.Wanted, err = install.Revisions(); err != nil {
		return facts, err
	}
	if facts.Definitions, err = definitions(ctx, on.Client); err != nil {
		return facts, err
	}
	facts.Snapshot, err = reading.Collect(ctx, on.Client, scope)
	if missing(err) {
		// The definitions tell what is missing.
		return facts, nil
	}
	if apierrors.IsForbidden(err) {
		facts.Denied, err = append(facts.Denied, "list installations"), nil
	}
	if err != nil {
		return facts, err
	}
	for _, unreadable := range facts.Snapshot.Unreadable {
		facts.Denied = append(facts.Denied, "list "+unreadable.Resource.Resource)
	}
	healths, leases, targets := &v1alpha1.LsHealthCheckList{}, &coordinationv1.LeaseList{}, &v1alpha1.TargetList{}
	for _, read := range []struct {
		name    string
		list    client.ObjectList
		options []client.ListOption
	}{
		{"lshealthchecks in all namespaces", healths, nil},
		{"leases in all namespaces", leases, []client.ListOption{client.MatchingFields{"metadata.name": v1alpha1.ServerLease}}},
		{"targets", targets, []client.ListOption{client.InNamespace(scope)}},
	} {
		err := on.Client.List(ctx, read.list, read.options...)
		switch {
		case apierrors.IsForbidden(err):
			facts.Denied = append(facts.Denied, "list "+read.name)
		case err != nil && !missing(err):
			return facts, fmt.Errorf("list %s: %w", read.name, err)
		}
	}
	facts.Leases = leasesOf(leases.Items)
	facts.Healths, facts.Targets = healths.Items, answers(ctx, on, tokens, targets.Items)
	if !tokens.Allowed {
		facts.Unasked = unasked(facts.Targets)
	}
	return facts, nil
}

func leasesOf(items []coordinationv1.Lease) []diagnosis.Lease {
	var leases []diagnosis.Lease
	for _, item := range items {
		lease := diagnosis.Lease{Namespace: item.Namespace}
		if item.Spec.HolderIdentity != nil {
			lease.Holder = *item.Spec.HolderIdentity
		}
		if item.Spec.RenewTime != nil {
			lease.Renewed = item.Spec.RenewTime.Time
		}
		leases = append(leases, lease)
	}
	return leases
}

func missing(err error) bool {
	return apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// version asks the API server for its version and, on the way, for its time.
func version(ctx context.Context, on *connection.Connection) (string, time.Time, error) {
	httpClient, err := rest.HTTPClientFor(on.Config)
	if err != nil {
		return "", time.Time{}, err
	}
	host, path, err := rest.DefaultServerUrlFor(on.Config)
	if err != nil {
		return "", time.Time{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, host.JoinPath(strings.TrimSuffix(path, "/api"), "version").String(), nil)
	if err != nil {
		return "", time.Time{}, err
	}
	response, err := httpClient.Do(request)
	if err != nil {
		return "", time.Time{}, fmt.Errorf("%s does not answer: %w", on.Where, err)
	}
	defer func() { _ = response.Body.Close() }()
	var answer struct {
		GitVersion string `json:"gitVersion"`
	}
	if json.NewDecoder(http.MaxBytesReader(nil, response.Body, 1<<16)).Decode(&answer) != nil || answer.GitVersion == "" {
		answer.GitVersion = "unknown"
	}
	at, err := http.ParseTime(response.Header.Get("Date"))
	if err != nil {
		at = time.Time{} // not every server sends it
	}
	return answer.GitVersion, at, nil
}

// definitions returns the revisions of what is installed, or nil if it may not be read.
func definitions(ctx context.Context, reader client.Reader) (map[string]string, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(connection.DefinitionKind.GroupVersion().WithKind(connection.DefinitionKind.Kind + "List"))
	err := reader.List(ctx, list)
	if apierrors.IsForbidden(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list CustomResourceDefinitions: %w", err)
	}
	installed := map[string]string{}
	for i := range list.Items {
		installed[list.Items[i].Name] = install.Revision(&list.Items[i])
	}
	return installed, nil
}

// unasked moves out of the answers those of clusters that are reached with a token which was not
// requested.
func unasked(answers map[string]error) map[string]error {
	moved := map[string]error{}
	for name, err := range answers {
		if clustererror.LacksToken(err) {
			moved[name] = err
			delete(answers, name)
		}
	}
	return moved
}

// answers asks the cluster of each Target that a user has made. Copies in trees have the
// same content.
func answers(ctx context.Context, on *connection.Connection, tokens *connection.TokenFlag, targets []v1alpha1.Target) map[string]error {
	pool := cluster.NewPool(cluster.PoolOptions{
		Secrets: on.Client, Tokens: tokens.Tokens(on), Self: on.Config, UserAgent: "landscaper-cli", Egress: on.Egress(),
	})
	found := map[string]error{}
	var mutex sync.Mutex
	var group sync.WaitGroup
	turns := make(chan struct{}, abreast)
	for i := range targets {
		target := &targets[i]
		_, copied := target.Labels[v1alpha1.DataObjectContextLabel]
		if copied || target.Spec.Type != v1alpha1.KubernetesClusterTargetType {
			continue
		}
		group.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			connection, err := pool.Connect(ctx, target)
			if err == nil {
				err = connection.Contact(ctx, func() {})
			}
			mutex.Lock()
			defer mutex.Unlock()
			found[target.Namespace+"/"+target.Name] = err
		})
	}
	group.Wait()
	return found
}
