package landscape

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"go.landscaper.dev/api/v1alpha1"
)

// watched are the kinds that a job writes.
var watched = []string{"installations", "executions", "deployitems", "targets", "dataobjects"}

// Traffic counts what a watch of all our kinds in a namespace gets: how many events, and
// how many bytes. An update sends the whole object to the API server and to each watch,
// so that this is what a write costs.
type Traffic struct {
	events, bytes atomic.Int64
	stop          context.CancelFunc
	group         sync.WaitGroup
}

// StartTraffic counts from now on, until Stop.
func StartTraffic(ctx context.Context, kubeconfig, namespace string) (*Traffic, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	traffic := &Traffic{}
	ctx, traffic.stop = context.WithCancel(ctx)
	for _, resource := range watched {
		url := fmt.Sprintf("%s/apis/%s/namespaces/%s/%s", config.Host, v1alpha1.GroupVersion, namespace, resource)
		if err := traffic.follow(ctx, client, url); err != nil {
			traffic.stop()
			return nil, fmt.Errorf("watch %s: %w", resource, err)
		}
	}
	return traffic, nil
}

// follow counts the events of a kind.
func (t *Traffic) follow(ctx context.Context, client *http.Client, url string) error {
	now, err := get(ctx, client, url+"?limit=1")
	if err != nil {
		return err
	}
	list := &metav1.PartialObjectMetadataList{}
	err = json.NewDecoder(now).Decode(list)
	_ = now.Close()
	if err != nil {
		return err
	}
	events, err := get(ctx, client, url+"?watch=1&resourceVersion="+list.ResourceVersion)
	if err != nil {
		return err
	}
	t.group.Go(func() {
		defer func() { _ = events.Close() }()
		lines := bufio.NewReader(events)
		for {
			// The end of the watch is the end of the count.
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			t.events.Add(1)
			t.bytes.Add(int64(len(line)))
		}
	})
	return nil
}

func get(ctx context.Context, client *http.Client, url string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		_ = response.Body.Close()
		return nil, fmt.Errorf("GET %s: %s", url, response.Status)
	}
	return response.Body, nil
}

// Stop ends the count and returns the events and their bytes.
func (t *Traffic) Stop() (events, bytes int64) {
	t.stop()
	t.group.Wait()
	return t.events.Load(), t.bytes.Load()
}
