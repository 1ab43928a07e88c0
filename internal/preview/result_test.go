package preview

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/content/blueprint"
	"go.landscaper.dev/internal/deploy/rollout"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/landscape/requests"
	"go.landscaper.dev/internal/runtime/job"
)

func installation(name, template string, children ...*inspect.Node) *inspect.Node {
	return &inspect.Node{Kind: inspect.KindInstallation, Name: name, TemplateName: template, Children: children,
		Installation: &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name)}}}
}

func execution(name string, items ...*inspect.Node) *inspect.Node {
	return &inspect.Node{Kind: inspect.KindExecution, Namespace: "n", Name: name, Children: items,
		Execution: &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name}}}
}

func item(template string, ready bool) *inspect.Node {
	return &inspect.Node{Kind: inspect.KindDeployItem, Name: template + "-x7f", TemplateName: template, Ready: ready}
}

// tree has names of the cluster that differ from those of the blueprints.
func tree() live {
	missing := execution("lost")
	missing.Execution = nil
	return liveTrees([]*inspect.Node{installation("root", "",
		execution("root", item("server", true), item("slow", false)),
		installation("db-k2x", "db", execution("db-k2x", item("server", true)), installation("deep-1", "deep")),
		installation("old", "", missing))})
}

func TestLiveTree(t *testing.T) {
	for _, test := range []struct {
		reason, path string
		name         string // "" is nothing there
		items        []string
	}{
		{"the root under its own name", "root", "root", []string{"server", "slow"}},
		{"others under those of blueprints", "root/db", "db-k2x", []string{"server"}},
		{"at any depth", "root/db/deep", "deep-1", nil},
		{"a subinstallation without a name in a blueprint under its own", "root/old", "old", nil},
		{"a name of the cluster is not a valid path", "root/db-k2x", "", nil},
		{"the path of an item has no items", "root/server", "", nil},
		{"nothing", "", "", nil},
		{"a path upwards", "root/db/..", "", nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			l := tree()
			node := l[test.path]
			if (node != nil) != (test.name != "") || node != nil && node.Name != test.name {
				t.Fatalf("got %+v", node)
			}
			exec, items := l.execution(test.path)
			var names []string
			for name := range items {
				names = append(names, name)
			}
			if slices.Sort(names); !slices.Equal(names, test.items) || (exec != nil) != (test.items != nil) {
				t.Errorf("got %v of %v", names, exec)
			}
			inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Name: "planned"}, Status: v1alpha1.InstallationStatus{JobID: "job"}}
			l.identify(test.path, inst)
			if test.name == "" {
				if !strings.HasPrefix(inst.Name, "planned") || inst.UID != "" || inst.Status.JobID != "job" {
					t.Errorf("what does not exist yet became %s", inst.Name)
				}
				return
			}
			if inst.Name != test.name || inst.UID != types.UID("uid-"+test.name) || inst.Status.JobID != "" {
				t.Errorf("it is %s, %s with job %q", inst.Name, inst.UID, inst.Status.JobID)
			}
		})
	}
}

// TestNameAhead: the name of an Installation that does not exist yet is that which its job gives it, as far
// as the parent is known.
func TestNameAhead(t *testing.T) {
	for _, test := range []struct{ reason, path, want string }{
		{"below the root", "root/web", job.ChildName("uid-root", "web", 0)},
		{"below another one that exists", "root/db/web", job.ChildName("uid-db-k2x", "web", 0)},
		{"below one that does not exist, whose UID nothing tells", "root/new/web", "web"},
		{"of a root that does not exist", "web", "web"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
			if tree().identify(test.path, inst); inst.Name != test.want {
				t.Errorf("%s, want %s", inst.Name, test.want)
			}
		})
	}
}

// store answers reads with one object or an error.
type store struct {
	client.Reader
	data []byte
	err  error
	keys []client.ObjectKey
}

func (s *store) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	s.keys = append(s.keys, key)
	switch object := into.(type) {
	case *v1alpha1.DataObject:
		object.Data = v1alpha1.NewAnyJSON(s.data)
	case *corev1.Secret:
		object.Data = map[string][]byte{plan.StateSecretKey: s.data, "other": []byte("s3cret")}
	}
	return s.err
}

func notFound() error { return apierrors.NewNotFound(schema.GroupResource{Resource: "x"}, "y") }

func TestLastExportsOfItems(t *testing.T) {
	refused := errors.New("refused")
	for _, test := range []struct {
		reason, path, item, data string
		err                      error
		want                     string
		is                       error
		asked                    int
	}{
		{"the last exports of an item", "root", "server", `{"server":{"url":"u"},"slow":1}`, nil, `{"url":"u"}`, nil, 1},
		{"an item that exports nothing", "root", "server", `{"slow":1}`, nil, "null", nil, 1},
		{"null", "root", "server", `{"server":null}`, nil, "null", nil, 1},
		{"nothing was exported by any", "root", "server", "", notFound(), "null", nil, 1},
		{"exports that are not a map", "root", "server", `["s3cret"]`, nil, "null", nil, 1},
		{"broken exports, which are not shown", "root", "server", `{"server": s3cret`, nil, "null", nil, 1},
		{"an item that is not ready may export something else", "root", "slow", `{"slow":1}`, nil, "null", nil, 0},
		{"an item that does not exist yet", "root", "new", `{"new":1}`, nil, "null", nil, 0},
		{"a subinstallation that does not exist yet", "root/new", "server", `{"server":1}`, nil, "null", nil, 0},
		{"an Execution that does not exist any more", "root/old", "server", `{"server":1}`, nil, "null", nil, 0},
		{"an API server that refuses", "root", "server", `{"server":"s3cret"}`, refused, "null", refused, 1},
	} {
		t.Run(test.reason, func(t *testing.T) {
			reader := &store{data: []byte(test.data), err: test.err}
			e := &comparison{Previewer: &Previewer{Reader: reader}, live: tree(), secrets: newSecrets()}
			node := &plan.Node{Path: test.path}
			got, err := e.lastExports(t.Context(), node, &v1alpha1.DeployItemTemplate{Name: test.item})
			if !errors.Is(err, test.is) || (err == nil) != (test.is == nil) || err != nil && strings.Contains(err.Error(), "s3cret") {
				t.Fatalf("got %v", err)
			}
			if text, err := json.Marshal(got); err != nil || string(text) != test.want {
				t.Errorf("got %s, %v", text, err)
			}
			if len(reader.keys) != test.asked {
				t.Errorf("it reads %v", reader.keys)
			}
		})
	}
	t.Run("what comes from a Secret is known as one from then on", func(t *testing.T) {
		e := &comparison{Previewer: &Previewer{Reader: &store{data: []byte(`{"server":{"token":"exported-token","url":"shop.example.org"}}`)}}, live: tree(), secrets: newSecrets()}
		template := &v1alpha1.DeployItemTemplate{Name: "server", Configuration: &runtime.RawExtension{Raw: []byte(`{"exports":{"exports":[{"key":"token","fromResource":{"kind":"Secret"}}]}}`)}}
		if _, err := e.lastExports(t.Context(), &plan.Node{Path: "root"}, template); err != nil {
			t.Fatal(err)
		}
		if !e.secrets.repeats("exported-token") || e.secrets.repeats("shop.example.org") {
			t.Error("another value is secret")
		}
	})
}

func TestStates(t *testing.T) {
	refused := errors.New("refused")
	for _, test := range []struct {
		reason, data string
		err          error
		want         string
	}{
		{"stored values", "a: 1", nil, "a: 1"},
		{"nothing yet", "", notFound(), ""},
		{"an API server that refuses", "s3cret", refused, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			reader := &store{data: []byte(test.data), err: test.err}
			s := states{reader, &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "i"}}}
			key := plan.StateKey{Prefix: plan.DeployPrefix, Executor: "e"}
			got, err := s.Read(t.Context(), key)
			if string(got) != test.want || errors.Is(err, refused) != (test.err == refused) || (err != nil) != (test.err == refused) { //nolint:errorlint // the row's own error
				t.Errorf("got %q, %v", got, err)
			}
			if err != nil && (!strings.Contains(err.Error(), `"e"`) || strings.Contains(err.Error(), "s3cret")) {
				t.Errorf("it does not say of what: %v", err)
			}
			if want := (client.ObjectKey{Namespace: "n", Name: key.SecretName("i")}); len(reader.keys) != 1 || reader.keys[0] != want {
				t.Errorf("it reads %v, not %v", reader.keys, want)
			}
		})
	}
}

// TestNothingOfAResultIsSecret puts a secret into each text that a preview consists of.
func TestNothingOfAResultIsSecret(t *testing.T) {
	const secret = "correct-horse-battery"
	c := comparison{secrets: newSecrets()}
	c.secrets.add(secret)
	with := func(text string) string { return text + " " + secret + " " + text }
	object := func(data string) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "c"}, "data": map[string]any{"a": data}}
	}
	c.tasks = []*task{
		{item: Item{Path: with("path"), Target: with("target"), Action: diff.Create}, err: errors.New(with("reason"))},
		{item: Item{Path: "second", Action: diff.Update}, found: rollout.Forecast{Objects: []diff.Object{
			{Kind: "ConfigMap", Name: "c", Before: object("x"), After: object(with("new"))},
			{Kind: "ConfigMap", Name: "d", Before: object(with("old")), After: object("x")},
			{Kind: "ConfigMap", Name: with("e"), Namespace: with("f"), After: object(base64.StdEncoding.EncodeToString([]byte(secret)))},
			{Kind: "ConfigMap", Name: "g", Unknown: with("the API server says")},
			{Kind: "ConfigMap", Name: "h"},
		}}},
		{item: Item{Path: "third", Action: diff.Delete}, found: rollout.Forecast{Objects: []diff.Object{{Kind: "Pod", Name: "p", Before: map[string]any{}}}}},
	}
	c.waiting = []Waiting{{Path: with("waits"), Reason: with("for")}}
	c.warnings = []string{with("warning"), "harmless"}
	result := c.result()
	text, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	for reason, form := range map[string]string{
		"as it is": secret, "a part of it": "horse-battery", "in base64": base64.StdEncoding.EncodeToString([]byte(secret))[:20],
	} {
		if strings.Contains(string(text), form) {
			t.Errorf("%s: %s", reason, text)
		}
	}
	for _, shown := range []string{"second", "third", "harmless", `"name":"c"`, `"name":"p"`} {
		if !strings.Contains(string(text), shown) {
			t.Errorf("%s is hidden: %s", shown, text)
		}
	}
	if want := (diff.Summary{Create: 1, Update: 2, Delete: 1, Keep: 1, Unknown: 3}); result.Summary != want {
		t.Errorf("it counts %+v, want %+v", result.Summary, want)
	}
	if again, err := json.Marshal(c.result()); err != nil || string(again) != string(text) {
		t.Errorf("asked twice it says something else: %s, %v", again, err)
	}
}

// TestRemoved: what goes with an item that is no longer wanted, asked of its deployer or,
// where that cannot tell, of its record.
func TestRemoved(t *testing.T) {
	pod := map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "p"}}
	recorded := `{"managedResources":[{"policy":"manage","resource":{"kind":"Pod","name":"p"}},{"policy":"keep","resource":{"kind":"Pod","name":"q"}}]}`
	asked := comparer{removed: []diff.Object{{Kind: "Pod", Name: "p", Before: pod}, {Kind: "Pod", Name: "q"}, {Kind: "Job", Name: "h", Unknown: "a hook"}}}
	for _, test := range []struct {
		reason    string
		kept      bool
		comparers map[v1alpha1.DeployItemType]Comparer
		want      diff.Summary
	}{
		{"the answer of the deployer", false, map[v1alpha1.DeployItemType]Comparer{"t": asked}, diff.Summary{Delete: 1, Keep: 1, Unknown: 1}},
		{"objects that stay are not a change", true, map[v1alpha1.DeployItemType]Comparer{"t": asked}, diff.Summary{}},
		{"the recorded objects, without an answer of a deployer", false, nil, diff.Summary{Delete: 1}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			node := item("server", true)
			node.DeployItem = &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Name: node.Name}}
			node.DeployItem.Spec.Type = "t"
			node.DeployItem.Spec.Target = &v1alpha1.ObjectReference{Name: "x"}
			node.DeployItem.Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(recorded)}
			c := comparison{
				Previewer: &Previewer{Comparers: test.comparers, connects: inMemory{}}, secrets: newSecrets(),
				live: liveTrees([]*inspect.Node{installation("root", "", execution("root", node))}), future: newFuture(&store{}),
			}
			c.removed(requests.Uninstall{Path: "a", Item: node.Name, Type: "t", Target: "x", Kept: test.kept})
			c.run(t.Context())
			result := c.result()
			if got := result.Items[0]; got.Action != diff.Delete || got.Path != "a" || got.Type != "t" || got.Target != "x" || result.Summary != test.want {
				t.Errorf("got %+v, %+v", got, result.Summary)
			}
		})
	}
}

// comparer says the same about each item.
type comparer struct {
	forecast rollout.Forecast
	removed  []diff.Object
	err      error
}

// Preview implements Comparer.
func (c comparer) Preview(context.Context, *v1alpha1.DeployItem, *cluster.Connection, rollout.Outlook) (rollout.Forecast, error) {
	return c.forecast, c.err
}

// PreviewRemoval implements Comparer.
func (c comparer) PreviewRemoval(context.Context, *v1alpha1.DeployItem, *cluster.Connection, rollout.Outlook) ([]diff.Object, error) {
	return c.removed, c.err
}

// inMemory connects to nothing.
type inMemory struct{}

// Connect implements connector.
func (inMemory) Connect(context.Context, *v1alpha1.Target) (*cluster.Connection, error) {
	return &cluster.Connection{}, nil
}

// planned is an Installation with one item, worked out by the real templates.
func planned(t *testing.T, item string) *plan.Node {
	t.Helper()
	files, err := blueprint.Inline(v1alpha1.NewAnyJSON(fmt.Appendf(nil, `{"blueprint.yaml": %q}`, "deployExecutions: [{name: d, type: GoTemplate, template: 'deployItems: ["+item+"]'}]\n")))
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := blueprint.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "root"}}
	node, err := (&plan.Tree{}).Grow(t.Context(), plan.Input{Installation: inst, Blueprint: loaded, NamedTargets: true})
	if err != nil {
		t.Fatal(err)
	}
	return node
}

// TestExportsOfItems: what an item would export in the job, and why that is not known.
func TestExportsOfItems(t *testing.T) {
	const head = "{name: server, type: known, target: {name: x}, config: {a: 1"
	const exporting = head + ", exports: {exports: []}}"
	foreseen := comparer{forecast: rollout.Forecast{Exports: map[string]any{"url": "new"}}}
	unknown := comparer{forecast: rollout.Forecast{Unknown: errors.New("a Service gets its address")}}
	for _, test := range []struct {
		reason, item string
		comparer     Comparer
		last         string
		succeeded    bool
		want, says   string
	}{
		{"the value that the dry run shows, and not that of the last job", exporting + "}", foreseen, `{"server":{"url":"old"}}`, true, `{"url":"new"}`, ""},
		{"the value that the dry run shows, in a first job", exporting + "}", foreseen, "", false, `{"url":"new"}`, ""},
		{"a value that only the job brings", exporting + "}", unknown, `{"server":{"url":"old"}}`, true, "null", "item server: a Service gets its address"},
		{"a cluster that does not answer", exporting + "}", comparer{err: errors.New("no route to host")}, "", true, "null", "item server: no route to host"},
		{"an item that exports nothing needs no dry run", head + "}}", comparer{err: errors.New("not asked for")}, "", false, "null", ""},
		{"an item that is left alone keeps what it has exported", exporting + ", updateOnChangeOnly: true}", foreseen, `{"server":{"url":"old"}}`, true, `{"url":"old"}`, ""},
		{"a deployer that cannot tell, and nothing has changed", strings.Replace(exporting, "known", "other", 1) + "}", foreseen, `{"server":{"url":"old"}}`, true, `{"url":"old"}`, ""},
		{"a deployer that cannot tell, and the item is new", strings.Replace(exporting, "known", "other", 1) + "}", foreseen, "", false, "null", "exports of items of type other are known only then"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			node := planned(t, test.item)
			c := &comparison{
				Previewer: &Previewer{Reader: &store{data: []byte(test.last)}, Comparers: map[v1alpha1.DeployItemType]Comparer{"known": test.comparer}, connects: inMemory{}, Now: time.Now},
				secrets:   newSecrets(), live: live{}, future: newFuture(&store{}), known: map[string]*task{},
			}
			if test.succeeded {
				c.live = liveTrees([]*inspect.Node{installation("root", "", done(t, c, node))})
				c.known = map[string]*task{}
			}
			got, err := c.Item(t.Context(), node, &node.DeployItems[0])
			if errors.Is(err, plan.ErrUnknown) != (test.says != "") || (err != nil) != (test.says != "") || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Fatalf("got %v", err)
			}
			if text, err := json.Marshal(got); err != nil || string(text) != test.want {
				t.Errorf("got %s, %v", text, err)
			}
		})
	}
}

// done is an Execution whose item has had a successful job as it is.
func done(t *testing.T, c *comparison, node *plan.Node) *inspect.Node {
	t.Helper()
	object := c.task(node, &node.DeployItems[0]).object.DeepCopy()
	object.Status.Phase = v1alpha1.DeployItemPhases.Succeeded
	object.OwnerReferences = nil
	one := item("server", true)
	one.DeployItem = object
	return execution("root", one)
}
