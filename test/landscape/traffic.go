package landscape

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"go.landscaper.dev/api/v1alpha1"
)

// watched are the kinds that a job writes.
var watched = []string{"installations", "executions", "deployitems", "targets", "dataobjects"}

// Traffic weighs what a watch of all our kinds in a namespace gets. An update sends the
// whole object to the API server and to each watch, so that this is what a write costs.
type Traffic struct {
	stop  context.CancelFunc
	group sync.WaitGroup

	mutex  sync.Mutex
	weight Weight
}

// Weight is how many objects there are and how many bytes they have: all together, and of these the
// status, and managedFields, which we do not send.
type Weight struct{ Objects, Bytes, Status, Managed int }

// add adds an object to a weight.
func (w *Weight) add(content []byte) error {
	object := struct {
		Metadata struct {
			ManagedFields json.RawMessage `json:"managedFields"`
		} `json:"metadata"`
		Status json.RawMessage `json:"status"`
	}{}
	err := json.Unmarshal(content, &object)
	w.Objects++
	w.Bytes += len(content)
	w.Status += len(object.Status)
	w.Managed += len(object.Metadata.ManagedFields)
	return err
}

// StartTraffic weighs from now on, until Stop.
func StartTraffic(ctx context.Context, kubeconfig, namespace string) (*Traffic, error) {
	ctx, stop := context.WithCancel(ctx)
	traffic := &Traffic{stop: stop}
	err := eachKind(kubeconfig, namespace, func(client *http.Client, url string) error {
		return traffic.follow(ctx, client, url)
	})
	if err != nil {
		stop()
		return nil, fmt.Errorf("watch: %w", err)
	}
	return traffic, nil
}

// AtRest weighs the objects of our kinds in a namespace.
func AtRest(ctx context.Context, kubeconfig, namespace string) (Weight, error) {
	weight := Weight{}
	err := eachKind(kubeconfig, namespace, func(client *http.Client, url string) error {
		list := struct{ Items []json.RawMessage }{}
		if err := getJSON(ctx, client, url, &list); err != nil {
			return err
		}
		for _, item := range list.Items {
			if err := weight.add(item); err != nil {
				return err
			}
		}
		return nil
	})
	return weight, err
}

// eachKind calls a function with the address of each of our kinds in a namespace.
func eachKind(kubeconfig, namespace string, do func(client *http.Client, url string) error) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	for _, resource := range watched {
		if err := do(client, fmt.Sprintf("%s/apis/%s/namespaces/%s/%s", config.Host, v1alpha1.GroupVersion, namespace, resource)); err != nil {
			return fmt.Errorf("%s: %w", resource, err)
		}
	}
	return nil
}

// follow weighs the events of a kind.
func (t *Traffic) follow(ctx context.Context, client *http.Client, url string) error {
	list := &metav1.PartialObjectMetadataList{}
	if err := getJSON(ctx, client, url+"?limit=1", list); err != nil {
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
			t.add(line)
		}
	})
	return nil
}

// add weighs an event.
func (t *Traffic) add(line []byte) {
	event := struct {
		Object json.RawMessage `json:"object"`
	}{}
	// Unreadable lines count nothing; API servers do not send them.
	if json.Unmarshal(line, &event) != nil {
		return
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	_ = t.weight.add(event.Object) // a part of what was read just now
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

func getJSON(ctx context.Context, client *http.Client, url string, into any) error {
	body, err := get(ctx, client, url)
	if err != nil {
		return err
	}
	return errors.Join(json.NewDecoder(body).Decode(into), body.Close())
}

// Stop ends the count and returns what all events weighed.
func (t *Traffic) Stop() Weight {
	t.stop()
	t.group.Wait()
	return t.weight
}
