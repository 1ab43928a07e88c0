package deployer

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apideployer "go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/model/placement"
	"go.landscaper.dev/internal/runtime/job"
)

// apiServer is an API server with nothing but an ID.
func apiServer(t *testing.T, id string) *httptest.Server {
	t.Helper()
	api := httptest.NewTLSServer(http.HandlerFunc(func(out http.ResponseWriter, request *http.Request) {
		out.Header().Set("Content-Type", "application/json")
		switch request.URL.Path {
		case "/api":
			_, _ = io.WriteString(out, `{"kind":"APIVersions","versions":[]}`)
		case "/apis":
			_, _ = io.WriteString(out, `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`)
		case "/api/v1/namespaces/kube-system":
			_, _ = io.WriteString(out, `{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata","metadata":{"name":"kube-system","uid":"`+id+`"}}`)
		default:
			out.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(api.Close)
	return api
}

// reachable are connections to the API servers of this machine.
func reachable() Clusters {
	return pool{cluster.NewPool(cluster.PoolOptions{Egress: Egress{AllowLoopback: true}.policy()})}
}

// leadingTo is a Target that leads to an API server.
func leadingTo(t *testing.T, name string, api *httptest.Server, token string) *v1alpha1.Target {
	t.Helper()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: api.Certificate().Raw})
	kubeconfig := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"x","contexts":[{"name":"x","context":{"cluster":"c","user":"u"}}],`+
		`"clusters":[{"name":"c","cluster":{"server":%q,"certificate-authority-data":%q}}],"users":[{"name":"u","user":{"token":%q}}]}`,
		api.URL, base64.StdEncoding.EncodeToString(authority), token)
	content, err := json.Marshal(map[string]string{"kubeconfig": kubeconfig})
	if err != nil {
		t.Fatal(err)
	}
	return &v1alpha1.Target{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: name},
		Spec:       v1alpha1.TargetSpec{Type: v1alpha1.KubernetesClusterTargetType, Configuration: v1alpha1.NewAnyJSONPointer(content)},
	}
}

// recording places its item, records an object and then leaves all earlier clusters.
func recording(ctx context.Context, item *Item) (Result, error) {
	connection, err := item.Cluster(ctx)
	if err != nil {
		return Result{}, err
	}
	if err := item.Place(ctx, connection, nil); err != nil {
		return Result{}, err
	}
	status := map[string]any{"kind": "ProviderStatus", "managedResources": apideployer.ManagedResourceStatusList{
		{Policy: apideployer.ManagePolicy, Resource: corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: "ns", Name: "one", UID: "u1"}},
	}}
	if err := item.Record(ctx, status); err != nil {
		return Result{}, err
	}
	for _, earlier := range item.EarlierClusters() {
		if !item.Retains(earlier) {
			if _, err := item.EarlierCluster(ctx, earlier); err != nil {
				return Result{}, item.ExplainEarlier(earlier, err)
			}
		}
		if err := item.SetEarlierCluster(apideployer.EarlierCluster{ClusterIdentity: earlier.ClusterIdentity}); err != nil {
			return Result{}, err
		}
	}
	return Done(), nil
}

func (s *stage) clusters() placement.Record {
	s.Helper()
	record, err := placement.Read(s.item().Status.ProviderStatus)
	if err != nil || record.Cluster == nil {
		s.Fatalf("recorded is %s, error %v", s.item().Status.ProviderStatus.Raw, err)
	}
	return record
}

// TestEarlierCluster: where a Target of the namespace leads to the earlier cluster, it is left;
// otherwise the item waits and says what it waits for, until there is one or a user leaves what is
// there.
func TestEarlierCluster(t *testing.T) {
	old, next, third := apiServer(t, "old"), apiServer(t, "new"), apiServer(t, "third")
	// reborn has another address and the ID of the old one.
	reborn := apiServer(t, "old")
	broken := leadingTo(t, "broken", old, "x")
	broken.Spec.Configuration = v1alpha1.NewAnyJSONPointer([]byte(`{"kubeconfig":"rubbish"}`))
	const wait = "no Target of namespace ns leads to the earlier cluster"
	for _, test := range []struct {
		reason string
		others []client.Object
		// recordedBy is the name of the Target that led to the old cluster.
		recordedBy string
		leaves     string
		wait       string
	}{
		{"another Target leads to the earlier cluster", []client.Object{leadingTo(t, "other", old, "b")}, "main", "", ""},
		{"no Target leads to the earlier cluster", []client.Object{leadingTo(t, "other", third, "b"), broken}, "main", "", wait},
		{"the Target that led to the earlier cluster is broken", []client.Object{broken}, "broken", "", wait},
		{"the Target that led to the earlier cluster has another address of it", []client.Object{leadingTo(t, "former", reborn, "b")}, "former", "", ""},
		{"another Target with another address is not asked", []client.Object{leadingTo(t, "other", reborn, "b")}, "main", "", wait},
		{"a user leaves what is on the earlier cluster", nil, "main", "old", ""},
		{"a user left what is on another earlier cluster", nil, "main", "older", wait},
	} {
		t.Run(test.reason, func(t *testing.T) {
			item := newItem(func(item *v1alpha1.DeployItem) {
				item.Spec.Target = &v1alpha1.ObjectReference{Name: test.recordedBy, Namespace: "ns"}
				if test.leaves != "" {
					item.Annotations = map[string]string{v1alpha1.LeaveEarlierClusterAnnotation: test.leaves}
				}
			})
			s := onStage(t, &script{reconcile: recording}, item)
			s.reconciler.options.Clusters = reachable()
			s.mustCreate(leadingTo(t, test.recordedBy, old, "a"))
			s.look()
			s.expect("Succeeded", true, "")
			if got := s.clusters(); got.Cluster.ID != "old" || len(got.EarlierClusters) != 0 {
				t.Fatalf("recorded is %+v", got)
			}
			// The Target is another one, the former one is what the row says.
			s.mustDelete(&v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: test.recordedBy}})
			for _, object := range test.others {
				s.mustCreate(object.DeepCopyObject().(client.Object))
			}
			s.mustCreate(leadingTo(t, "new", next, "a"))
			again := s.item()
			again.Spec.Target.Name, again.Generation = "new", 2
			AssignJob(again, s.clock)
			s.mustStore(again)
			s.look()
			if test.wait == "" {
				s.expect("Succeeded", true, "")
				if got := s.clusters(); got.Cluster.ID != "new" || len(got.EarlierClusters) != 0 {
					t.Errorf("recorded is %+v", got)
				}
				return
			}
			s.expect("Progressing", false, test.wait)
			if got := s.clusters(); got.Cluster.ID != "new" || len(got.EarlierClusters) != 1 || len(got.EarlierClusters[0].ManagedResources) != 1 {
				t.Errorf("recorded is %+v", got)
			}
			message := s.item().Status.LastError.Message
			for _, want := range []string{old.URL, "ConfigMap ns/one", v1alpha1.LeaveEarlierClusterAnnotation + "=old"} {
				if !strings.Contains(message, want) {
					t.Errorf("the message has no %q: %s", want, message)
				}
			}
			if strings.Contains(message, "rubbish") {
				t.Errorf("the message repeats what is in a Target: %s", message)
			}
			s.ends(t)
		})
	}
}

// ends shows what ends the wait: any Target of the namespace enqueues the item, and the annotation
// lets it go on.
func (s *stage) ends(t *testing.T) {
	t.Helper()
	if requests := s.reconciler.usersOf(&v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "any"}}); len(requests) != 1 {
		t.Errorf("a Target of the namespace enqueues %v", requests)
	}
	s.look()
	left := s.item()
	left.Annotations = map[string]string{v1alpha1.LeaveEarlierClusterAnnotation: "old"}
	if err := s.reconciler.client.Update(t.Context(), left); err != nil {
		t.Fatal(err)
	}
	s.look()
	s.expect("Succeeded", true, "")
}

// TestTimeOfEarlierCluster: when the time is over, the job fails with what it waited for.
func TestTimeOfEarlierCluster(t *testing.T) {
	old, next := apiServer(t, "old"), apiServer(t, "new")
	item := newItem(func(item *v1alpha1.DeployItem) {
		item.Spec.Target = &v1alpha1.ObjectReference{Name: "main", Namespace: "ns"}
	})
	s := onStage(t, &script{reconcile: recording}, item, leadingTo(t, "main", old, "a"))
	s.reconciler.options.Clusters = reachable()
	s.look()
	target := &v1alpha1.Target{}
	if err := s.reconciler.client.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "main"}, target); err != nil {
		t.Fatal(err)
	}
	target.Spec = leadingTo(t, "main", next, "a").Spec
	if err := s.reconciler.client.Update(t.Context(), target); err != nil {
		t.Fatal(err)
	}
	again := s.item()
	AssignJob(again, s.clock)
	s.mustStore(again)
	s.look()
	s.expect("Progressing", false, "no Target of namespace ns leads to the earlier cluster")
	if emitted := strings.Join(s.emitted(), "\n"); !strings.Contains(emitted, "ClusterChanged") || !strings.Contains(emitted, old.URL) {
		t.Errorf("the events are %s", emitted)
	}
	s.clock = s.clock.Add(v1alpha1.DefaultDeployItemTimeout * 2)
	s.reconciler.requeue(key)
	s.look()
	s.expect("Failed", true, "the time is over and no Target of namespace ns leads to the earlier cluster")
	if got := s.clusters(); len(got.EarlierClusters) != 1 {
		t.Errorf("it forgets what is left: %+v", got)
	}
}

func (s *stage) mustCreate(object client.Object) {
	s.Helper()
	if err := s.reconciler.client.Create(s.Context(), object); err != nil {
		s.Fatal(err)
	}
}

func (s *stage) mustDelete(object client.Object) {
	s.Helper()
	if err := s.reconciler.client.Delete(s.Context(), object); err != nil {
		s.Fatal(err)
	}
}

// mustStore stores an item with its status.
func (s *stage) mustStore(item *v1alpha1.DeployItem) {
	s.Helper()
	status := item.Status.DeepCopy()
	err := s.reconciler.client.Update(s.Context(), item)
	item.Status = *status
	if err = errors.Join(err, s.reconciler.client.Status().Update(s.Context(), item)); err != nil {
		s.Fatal(err)
	}
}

// TestLeadsElsewhere: who looks at a finished item sees that its Target leads to another
// cluster, and records nothing.
func TestLeadsElsewhere(t *testing.T) {
	old, next := apiServer(t, "old"), apiServer(t, "new")
	clusters := reachable()
	item := newItem(func(item *v1alpha1.DeployItem) {
		item.Spec.Target = &v1alpha1.ObjectReference{Name: "main", Namespace: "ns"}
	})
	s := onStage(t, &script{reconcile: recording}, item, leadingTo(t, "main", old, "a"))
	s.reconciler.options.Clusters = clusters
	unrecorded := &Item{DeployItem: item.DeepCopy()}
	s.look()
	recorded := &Item{DeployItem: s.item()}
	before := string(recorded.Status.ProviderStatus.Raw)
	for _, test := range []struct {
		reason string
		item   *Item
		to     *httptest.Server
		want   bool
	}{
		{"nothing is recorded", unrecorded, next, false},
		{"a Target that leads to the recorded cluster", recorded, old, false},
		{"a Target that leads to another cluster", recorded, next, true},
		{"another address of the same one", recorded, apiServer(t, "old"), false},
	} {
		connection, err := clusters.Connect(t.Context(), leadingTo(t, "main", test.to, "b"))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := test.item.LeadsElsewhere(t.Context(), connection); err != nil || got != test.want {
			t.Errorf("%s: %t, error %v", test.reason, got, err)
		}
	}
	if after := string(recorded.Status.ProviderStatus.Raw); after != before {
		t.Errorf("it records %s", after)
	}
}

// TestDeletionByAnotherTarget: the Target of an item that is deleted is missing or incomplete. Any
// Target of the namespace that leads to the recorded cluster will do; without one the item waits,
// and says where it should lead.
func TestDeletionByAnotherTarget(t *testing.T) {
	old, next := apiServer(t, "old"), apiServer(t, "new")
	broken := leadingTo(t, "main", old, "x")
	broken.Spec.Configuration, broken.Spec.SecretRef = nil, &v1alpha1.LocalSecretReference{Name: "missing", Key: "kubeconfig"}
	for _, test := range []struct {
		reason string
		others []client.Object
		wait   string
	}{
		{"another Target leads to the recorded cluster", []client.Object{leadingTo(t, "other", old, "b")}, ""},
		{"another Target leads to another cluster", []client.Object{leadingTo(t, "other", next, "b")}, "Target ns/main does not exist: create it, or another one that leads to " + old.URL + ", or annotate"},
		{"no other Target exists", nil, "Target ns/main does not exist: create it, or another one that leads to " + old.URL + ", or annotate"},
		{"the Secret of the Target is missing, another Target leads to the recorded cluster", []client.Object{broken, leadingTo(t, "other", old, "b")}, ""},
		{"the Secret of the Target is missing, and there is no other Target", []client.Object{broken}, "Secret"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			removed := ""
			s := onStage(t, &script{reconcile: recording, remove: func(ctx context.Context, item *Item) (Result, error) {
				connection, err := item.Cluster(ctx)
				if err == nil {
					removed = connection.Server()
				}
				return WaitFor("more"), err
			}}, newItem(func(item *v1alpha1.DeployItem) {
				item.Spec.Target = &v1alpha1.ObjectReference{Name: "main", Namespace: "ns"}
			}))
			s.reconciler.options.Clusters = pool{cluster.NewPool(cluster.PoolOptions{Secrets: s.reconciler.client, Egress: Egress{AllowLoopback: true}.policy()})}
			s.mustCreate(leadingTo(t, "main", old, "a"))
			s.look()
			s.mustDelete(&v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "main"}})
			for _, object := range test.others {
				s.mustCreate(object.DeepCopyObject().(client.Object))
			}
			s.mustDelete(s.item())
			going := s.item()
			AssignJob(going, s.clock)
			s.mustStore(going)
			s.look()
			if test.wait == "" && !strings.HasPrefix(removed, old.URL) {
				t.Errorf("the deletion is on %q: %+v", removed, s.item().Status.LastError)
			}
			if test.wait != "" {
				s.expect("Deleting", false, test.wait)
			}
		})
	}
}

// TestUnmoved: an item that is deployed only after a change stays where it is when its Target leads
// to another cluster; a warning says so as long as that is true.
func TestUnmoved(t *testing.T) {
	old, next := apiServer(t, "old"), apiServer(t, "new")
	s := onStage(t, &script{reconcile: recording}, newItem(func(item *v1alpha1.DeployItem) {
		item.Spec.Target, item.Spec.UpdateOnChangeOnly = &v1alpha1.ObjectReference{Name: "main", Namespace: "ns"}, true
	}), leadingTo(t, "main", old, "a"))
	s.reconciler.options.Clusters = reachable()
	s.look()
	for _, step := range []struct {
		reason string
		to     *httptest.Server
		warns  bool
	}{
		{"nothing has changed", old, false},
		{"the Target leads to another cluster", next, true},
		{"the Target still leads there", next, true},
		{"the Target leads to another address of the recorded cluster", apiServer(t, "old"), false},
		{"the Target leads to the other cluster again", next, true},
		{"the Target leads back", old, false},
	} {
		target := &v1alpha1.Target{}
		if err := s.reconciler.client.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "main"}, target); err != nil {
			t.Fatal(err)
		}
		target.Spec = leadingTo(t, "main", step.to, "a").Spec
		if err := s.reconciler.client.Update(t.Context(), target); err != nil {
			t.Fatal(err)
		}
		again := s.item()
		AssignJob(again, s.clock)
		s.mustStore(again)
		s.look()
		s.expect("Succeeded", true, "")
		said := job.GetCondition(s.item().Status.Conditions, v1alpha1.WarningsCondition)
		if warns := said != nil && strings.Count(said.Message, "Target ns/main leads to another cluster: the item stays on "+old.URL) == 1; warns != step.warns || !warns && said != nil {
			t.Errorf("%s: %+v", step.reason, said)
		}
		if got := s.clusters(); got.Cluster.ID != "old" || len(got.EarlierClusters) != 0 {
			t.Errorf("%s: recorded is %+v", step.reason, got)
		}
	}
}
