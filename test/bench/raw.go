package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/landscape"
)

// rawWriters is how many clients write at the same time for the raw rate.
const rawWriters = 16

// rawWrite is a write that an Installation has cost.
type rawWrite struct {
	resource, name, uid string
	create, status      bool
	body                string
}

// rawSample are the writes of one Installation in their order, but for the object on the target
// cluster. A client that does nothing else shows how fast the API server allows any client to be,
// with objects of the same size.
type rawSample struct {
	space, name string
	writes      []rawWrite
}

// kinds are those that a job writes.
var kinds = map[string]string{"Installation": "installations", "Execution": "executions", "DeployItem": "deployitems", "Target": "targets", "DataObject": "dataobjects"}

// sample brings up one Installation and notes what is written for it.
func (b *bench) sample(ctx context.Context) (*rawSample, error) {
	crowd, err := b.newCrowd(ctx, 1, newInstallation)
	if err != nil {
		return nil, err
	}
	counted, err := b.count(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	seen := make(chan watch.Event, 100)
	for kind := range kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind + "List"))
		// A watch begins with what is there: the Target of the namespace.
		events, err := b.admin.Watch(ctx, list, client.InNamespace(crowd.space))
		if err != nil {
			return nil, err
		}
		go func() {
			for event := range events.ResultChan() {
				seen <- event
			}
		}()
	}
	if _, err := crowd.come(ctx, crowd.succeeded()); err != nil {
		return nil, err
	}
	requests, err := counted.Requests(ctx)
	if err != nil {
		return nil, err
	}
	elsewhere := func(r landscape.Request) bool { return crowd.foreign(r) || r.Cluster != "resource" }
	// The Target of the namespace and the Installation are the user's.
	states := make([]*unstructured.Unstructured, 0, 2+landscape.Spent(slices.DeleteFunc(requests, elsewhere)).Writes)
	for len(states) < cap(states) {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%d of %d writes were seen: %w", len(states), cap(states), ctx.Err())
		case event := <-seen:
			states = append(states, event.Object.(*unstructured.Unstructured))
		}
	}
	return newRawSample(crowd.space, crowd.installation(0).Name, states)
}

// newRawSample makes writes of the states of objects.
func newRawSample(space, name string, states []*unstructured.Unstructured) (*rawSample, error) {
	version := func(object *unstructured.Unstructured) int {
		number, _ := strconv.Atoi(object.GetResourceVersion()) // of etcd, as ever
		return number
	}
	slices.SortFunc(states, func(a, b *unstructured.Unstructured) int { return cmp.Compare(version(a), version(b)) })
	sample, last := &rawSample{space: space, name: name}, map[string]*unstructured.Unstructured{}
	for _, state := range states {
		uid := string(state.GetUID())
		before := last[uid]
		last[uid] = state.DeepCopy()
		if state.GetKind() == "Target" && state.GetOwnerReferences() == nil {
			continue
		}
		write := rawWrite{resource: kinds[state.GetKind()], name: state.GetName(), uid: uid, create: before == nil}
		state.SetManagedFields(nil)
		if before == nil {
			state.SetResourceVersion("")
			state.SetUID("")
		} else {
			state.SetResourceVersion(versionMark)
			write.status = !reflect.DeepEqual(before.Object["status"], state.Object["status"])
		}
		body, err := json.Marshal(state.Object)
		if err != nil {
			return nil, err
		}
		write.body = string(body)
		sample.writes = append(sample.writes, write)
	}
	return sample, nil
}

// versionMark stands for the version of an object in a body.
const versionMark = "VERSION-OF-THE-OBJECT"

// raw is a client that writes and does nothing else.
type raw struct {
	host   string
	client *http.Client
}

// rawRate returns how many Installations in a second could be written that way. Their
// objects go with their namespace.
func (b *bench) rawRate(ctx context.Context, sample *rawSample, count int) (float64, error) {
	space, err := b.namespace(ctx)
	if err != nil {
		return 0, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", b.resource().Kubeconfig)
	if err != nil {
		return 0, err
	}
	to := raw{host: config.Host}
	if to.client, err = rest.HTTPClientFor(config); err != nil {
		return 0, err
	}
	began := time.Now()
	err = inParallel(count, rawWriters, func(i int) error { return to.replay(ctx, sample, space, i) })
	return float64(count) / time.Since(began).Seconds(), err
}

// replay does the writes of a sample for another Installation. All names and texts have the
// same length as those of the sample.
func (r raw) replay(ctx context.Context, sample *rawSample, space string, i int) error {
	// A name may be the beginning of another one.
	names := []string{}
	for _, write := range sample.writes {
		names = append(names, write.name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	replaced := []string{sample.space, space}
	for _, name := range slices.Compact(names) {
		replaced = append(replaced, name, renamed(name, i))
	}
	versions := map[string]string{}
	for _, write := range sample.writes {
		text := strings.NewReplacer(append(slices.Clone(replaced), versionMark, versions[write.uid])...).Replace(write.body)
		stored, err := r.write(ctx, write, space, renamed(write.name, i), text)
		if err != nil {
			return err
		}
		versions[write.uid] = stored.GetResourceVersion()
		if write.create {
			replaced = append(replaced, write.uid, string(stored.GetUID()))
		}
	}
	return nil
}

// renamed ends a name with a number.
func renamed(name string, i int) string { return fmt.Sprintf("%s%05d", name[:len(name)-5], i) }

func (r raw) write(ctx context.Context, write rawWrite, space, name, body string) (*unstructured.Unstructured, error) {
	method, url := http.MethodPost, fmt.Sprintf("%s/apis/%s/namespaces/%s/%s", r.host, v1alpha1.GroupVersion, space, write.resource)
	if !write.create {
		method, url = http.MethodPut, url+"/"+name
	}
	if write.status {
		url += "/status"
	}
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := r.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() //nolint:errcheck // it was read to its end
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return nil, fmt.Errorf("%s %s: %s: %s", method, url, response.Status, content)
	}
	stored := &unstructured.Unstructured{}
	return stored, json.Unmarshal(content, &stored.Object)
}
