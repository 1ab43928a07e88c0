package preview

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/model/ownership"
)

// deployed is the ConfigMap a on a cluster, with the label of an item.
func deployed(owner, data string) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"k": data},
		"metadata": map[string]any{"namespace": "n", "name": "a", "uid": "u", "labels": map[string]any{ownership.ManifestLabel: owner}},
	}
}

// row is what an item makes of the ConfigMap a.
func row(before, after map[string]any) diff.Object {
	return diff.Object{APIVersion: "v1", Kind: "ConfigMap", Namespace: "n", Name: "a", Before: before, After: after}
}

// wants is an item with what becomes of the ConfigMap a; its configuration lists it.
func wants(name string, found ...diff.Object) *task {
	t := &task{item: Item{Path: "root/" + name}, object: listing(name, "a")}
	t.found.Objects = found
	return t
}

// listing is an item of manifests.
func listing(name string, configMaps ...string) *v1alpha1.DeployItem {
	item := &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name}}
	item.Spec.Type, item.Spec.Target = v1alpha1.ManifestDeployItemType, &v1alpha1.ObjectReference{Name: "host"}
	var manifests []string
	for _, name := range configMaps {
		manifests = append(manifests, fmt.Sprintf(`{"manifest":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"n","name":%q}}}`, name))
	}
	item.Spec.Configuration = &runtime.RawExtension{Raw: []byte(`{"manifests":[` + strings.Join(manifests, ",") + `]}`)}
	return item
}

// givesUp is an item that does not want the ConfigMap a any more, and removes it.
func givesUp(name string) *task {
	gone := row(deployed(name, "1"), nil)
	gone.Unwanted = true
	t := wants(name, gone)
	t.object = listing(name)
	return t
}

// leaves is an item that does not want the ConfigMap a any more, and leaves it on the cluster.
func leaves(name string) *task {
	t := givesUp(name)
	left := &t.found.Objects[0]
	left.Left, left.Before = left.Before, nil
	return t
}

// sweeping is an item that goes and whose deletion group deletes all, such as ConfigMap a of item two.
func sweeping(name string) *task {
	t := going(name)
	t.found.Objects = []diff.Object{row(deployed("two", "1"), nil)}
	t.object = listing(name)
	return t
}

// going is an item that goes.
func going(name string) *task {
	t := wants(name, row(deployed(name, "1"), nil))
	t.removal, t.object = true, listing(name, "a")
	return t
}

// expecting is an item that has the ConfigMap a with policy ignore.
func expecting(name string) *task {
	t := wants(name, row(nil, nil))
	t.object.Spec.Configuration.Raw = []byte(strings.ReplaceAll(string(t.object.Spec.Configuration.Raw), `{"manifest":`, `{"policy":"ignore","manifest":`))
	return t
}

// installing is an item whose chart has the ConfigMap a in a folder crds, and finds it on the cluster.
func installing(name string) *task {
	t := wants(name, row(nil, nil)).chart()
	t.found.Expected = []corev1.ObjectReference{{APIVersion: "v1", Kind: "ConfigMap", Namespace: "n", Name: "a"}}
	return t
}

// chart lets the wants of an item follow from a chart.
func (t *task) chart() *task {
	t.object.Spec.Type = v1alpha1.HelmDeployItemType
	t.object.Spec.Configuration = nil
	return t
}

func (t *task) at(target string) *task { t.object.Spec.Target.Name = target; return t }

// recordedOn lets the item have recorded that it is on a cluster.
func (t *task) recordedOn(cluster string) *task {
	t.object.Status.ProviderStatus = &runtime.RawExtension{Raw: fmt.Appendf(nil, `{"cluster":{"id":%q,"target":%q}}`, cluster, t.object.Spec.Target.Name)}
	return t
}

// TestMoves: what becomes of an object that one item gives up and another one may want.
func TestMoves(t *testing.T) {
	refused := row(nil, nil)
	refused.Unknown = "the API server says no"
	elsewhere := row(deployed("two", "1"), nil)
	elsewhere.Cluster = "the earlier one"
	anew := row(deployed("two", "1"), deployed("one", "2"))
	anew.Replaced = true
	for _, test := range []struct {
		reason string
		tasks  []*task
		want   []string
	}{
		{"the other item applies it as it is", []*task{wants("one", row(deployed("two", "1"), deployed("one", "1"))), givesUp("two")}, []string{"root/one: move from root/two to root/one"}},
		{"the other item applies it with a change", []*task{wants("one", row(deployed("two", "1"), deployed("one", "2"))), givesUp("two")}, []string{"root/one: move from root/two to root/one data.k"}},
		{"the other item applies it when its item is deleted", []*task{going("two"), wants("one", row(deployed("two", "1"), deployed("one", "1")))}, []string{"root/one: move from root/two to root/one"}},
		{"a chart applies it", []*task{wants("one", row(deployed("two", "1"), deployed("", "1"))).chart(), givesUp("two")}, []string{"root/one: move from root/two to root/one"}},
		{"a release that stays as it is has it", []*task{wants("one", row(nil, nil)).chart(), going("two").chart()}, []string{"root/one: move from root/two to root/one"}},
		{"an item that the job leaves alone inherits it", []*task{wants("one"), givesUp("two")}, []string{"root/one: move from root/two to root/one"}},
		{"an item that leaves it as it is inherits it", []*task{wants("one", row(nil, nil)), givesUp("two")}, []string{"root/one: move from root/two to root/one"}},
		{"an item that applies it comes before one that inherits it", []*task{wants("one"), givesUp("two"), wants("three", row(deployed("two", "1"), deployed("three", "1")))}, []string{"root/three: move from root/two to root/three"}},
		{"an object that the item would leave on the cluster", []*task{wants("one", row(deployed("two", "1"), deployed("one", "1"))), leaves("two")}, []string{"root/one: move from root/two to root/one"}},
		{"an object that the item leaves and no other one wants", []*task{leaves("two")}, nil},
		{"the object is replaced", []*task{wants("one", anew), givesUp("two")}, []string{"root/one: replace from root/two to root/one data.k"}},
		{"the API server refuses it of the other item", []*task{wants("one", refused), givesUp("two")}, []string{"root/one: unknown from root/two to root/one"}},
		{"the other item is on another cluster", []*task{wants("one", row(nil, deployed("one", "1"))).at("edge"), givesUp("two")}, []string{"root/one: create data.k metadata.labels['manifest.deployer.landscaper.gardener.cloud/deployitem']", "root/two: delete"}},
		{"the other item has another Target for the same cluster", []*task{wants("one", row(deployed("two", "1"), deployed("one", "1"))).at("edge").recordedOn("1"), givesUp("two").recordedOn("1")}, []string{"root/one: move from root/two to root/one"}},
		{"no item wants it", []*task{givesUp("one"), going("two").at("edge")}, []string{"root/one: delete", "root/two: delete"}},
		{"a chart does not take over an object that it does not have", []*task{wants("one").chart(), givesUp("two")}, []string{"root/two: delete"}},
		{"an item expects it", []*task{expecting("one"), givesUp("two")}, []string{"root/two: stays, because deploy item root/one expects it"}},
		{"an item expects it when its item is deleted", []*task{going("two"), expecting("one")}, []string{"root/two: stays, because deploy item root/one expects it"}},
		{"an item on another cluster expects it", []*task{expecting("one").at("edge"), givesUp("two")}, []string{"root/two: delete"}},
		{"an item expects it that goes, too", []*task{{item: Item{Path: "root/one"}, object: expecting("one").object, removal: true}, givesUp("two")}, []string{"root/two: delete"}},
		{"a chart has it in a folder crds", []*task{installing("one"), givesUp("two")}, []string{"root/two: stays, because deploy item root/one expects it"}},
		{"an item applies it that another one expects", []*task{expecting("one"), givesUp("two"), wants("three", row(deployed("two", "1"), deployed("three", "1")))}, []string{"root/three: move from root/two to root/three"}},
		{"a deletion group of one item deletes what is recorded by another one that goes", []*task{sweeping("one"), going("two")}, []string{"root/two: delete"}},
		{"deletion groups of two items delete the same", []*task{sweeping("one"), sweeping("three")}, []string{"root/one: delete"}},
		{"a deletion group of an item deletes what another one wants", []*task{sweeping("one"), wants("two", row(nil, nil))}, []string{"root/two: unknown"}},
		{"an object on an earlier cluster is deleted", []*task{wants("one", row(nil, deployed("one", "1"))), wants("two", elsewhere)}, []string{"root/one: create data.k metadata.labels['manifest.deployer.landscaper.gardener.cloud/deployitem']", "root/two: delete"}},
		{"the other item keeps it, and does not want it", []*task{wants("one", row(deployed("two", "1"), deployed("one", "1"))), {item: Item{Path: "root/two"}, object: listing("two")}}, []string{"root/one: move from root/two to root/one"}},
		{"both want it", []*task{wants("one", row(deployed("two", "1"), deployed("one", "1"))), wants("two", row(nil, nil))}, []string{"root/one: update metadata.labels['manifest.deployer.landscaper.gardener.cloud/deployitem']"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			c := &comparison{Previewer: &Previewer{}, secrets: newSecrets(), live: live{}, tasks: test.tasks}
			c.moves(t.Context())
			if difference := cmp.Diff(test.want, changesOf(c.result())); difference != "" {
				t.Error(difference)
			}
		})
	}
}

// changesOf are the changes of a result, a line each.
func changesOf(result *Result) (lines []string) {
	for _, item := range result.Items {
		for _, change := range item.Changes {
			if change.Action == diff.Keep && change.Reason == "" {
				continue
			}
			line := item.Path + ": " + string(change.Action)
			if change.Action == diff.Keep {
				line = item.Path + ": stays, " + change.Reason
			}
			if change.MovesTo != "" {
				line += " from " + change.MovesFrom + " to " + change.MovesTo
			}
			for _, field := range change.Fields {
				line += " " + field.Path
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// neighbor is an item of another root.
func neighbor(name string, item *v1alpha1.DeployItem) *inspect.Node {
	node := &inspect.Node{Kind: inspect.KindDeployItem, Name: item.Name, TemplateName: name, DeployItem: item}
	return installation("other", "", execution("other", node))
}

// TestHeirs: an item of an Installation that has no job inherits what it lists.
func TestHeirs(t *testing.T) {
	gone := listing("i", "a")
	gone.DeletionTimestamp = &metav1.Time{}
	moves := []string{"root/one: move from root/one to other/app"}
	for _, test := range []struct {
		reason string
		from   *task
		item   *v1alpha1.DeployItem
		want   []string
	}{
		{"the item lists the object", givesUp("one"), listing("i", "a"), moves},
		{"a deleted item has recorded the object", going("one"), recording(listing("i", "a")), moves},
		{"the item lists another object", givesUp("one"), listing("i", "b"), []string{"root/one: delete"}},
		{"the item is being deleted", givesUp("one"), gone, []string{"root/one: delete"}},
		{"the item deploys to another cluster", givesUp("one").at("edge"), listing("i", "a"), []string{"root/one: delete"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			c := &comparison{Previewer: &Previewer{}, secrets: newSecrets(), tasks: []*task{test.from}, future: newFuture(&store{err: notFound()}),
				live: liveTrees([]*inspect.Node{neighbor("app", test.item)})}
			c.moves(t.Context())
			if difference := cmp.Diff(test.want, changesOf(c.result())); difference != "" {
				t.Error(difference)
			}
			if found := moving(test.from.found.Objects); (len(found) == 1 && found[0].To == "other/app") != (len(test.want) == 1 && test.want[0] == moves[0]) {
				t.Errorf("a deletion says %+v", found)
			}
		})
	}
}

// recording lets an item have recorded the ConfigMap a.
func recording(item *v1alpha1.DeployItem) *v1alpha1.DeployItem {
	item.Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(`{"managedResources":[{"resource":{"apiVersion":"v1","kind":"ConfigMap","namespace":"n","name":"a"}}]}`)}
	return item
}

// TestLeaves: who is on the way out, so that a release can be taken over.
func TestLeaves(t *testing.T) {
	deleted := listing("two", "a")
	deleted.DeletionTimestamp = &metav1.Time{}
	for _, test := range []struct {
		reason string
		holder *task
		stored *v1alpha1.DeployItem
		want   bool
	}{
		{"the holder is deleted in the same job", going("two"), nil, true},
		{"the holder stays", wants("two"), nil, false},
		{"an item of another root is being deleted", nil, deleted, true},
		{"an item of another root stays", nil, listing("two", "a"), false},
		{"there is no such item", nil, nil, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			asking := wants("one").recordedOn("1")
			c := &comparison{Previewer: &Previewer{}, live: live{}, tasks: []*task{asking}}
			if test.holder != nil {
				c.tasks, test.stored = append(c.tasks, test.holder), test.holder.object
			}
			if test.stored != nil {
				c.live = liveTrees([]*inspect.Node{neighbor("two", test.stored)})
			}
			around := &outlook{comparison: c, task: asking}
			if got := around.IsTerminating("two"); got != (test.holder != nil || test.stored != nil) {
				t.Errorf("at first it leaves: %t", got)
			}
			asking.settled = true
			c.settleClaims(t.Context())
			if got := around.IsTerminating("two"); got != test.want {
				t.Errorf("it leaves: %t", got)
			}
		})
	}
}

// TestYields: who lets an object go, as far as is known, and again when everything is.
func TestYields(t *testing.T) {
	a := corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: "n", Name: "a"}
	for _, test := range []struct {
		reason         string
		holder         *task
		stored         *v1alpha1.DeployItem
		assumed, found bool
	}{
		{"the holder does not list the object any more", givesUp("two"), nil, true, true},
		{"the holder is deleted", going("two"), nil, true, true},
		{"the holder still lists the object", wants("two", row(nil, nil)), nil, true, false},
		{"the chart of the holder does not have the object any more", givesUp("two").chart(), nil, true, true},
		{"the chart of the holder still has the object", wants("two", row(nil, nil)).chart(), nil, true, false},
		{"the holder is on another cluster", givesUp("two").at("edge").recordedOn("2"), nil, true, false},
		{"the holder is on the same cluster by another Target", givesUp("two").at("edge").recordedOn("1"), nil, true, true},
		{"the cluster of the holder is not known: the label of the object names it", givesUp("two").at("edge"), nil, true, true},
		{"an item of another root does not list it", nil, listing("two"), true, true},
		{"an item of another root lists it", nil, listing("two", "a"), true, false},
		{"there is no such item", nil, nil, false, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			asking := wants("one").recordedOn("1")
			c := &comparison{Previewer: &Previewer{}, live: live{}, tasks: []*task{asking}}
			if test.holder != nil {
				c.tasks, test.stored = append(c.tasks, test.holder), test.holder.object
			}
			if test.stored != nil {
				c.live = liveTrees([]*inspect.Node{neighbor("two", test.stored)})
			}
			around := &outlook{comparison: c, task: asking}
			if got := around.Yields("two", a); got != test.assumed {
				t.Fatalf("at first it yields: %t", got)
			}
			asking.settled = true
			c.settleClaims(t.Context())
			if got := around.Yields("two", a); got != test.found {
				t.Errorf("it yields: %t", got)
			}
		})
	}
}
