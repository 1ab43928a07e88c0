package preview

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/landscape/inspect"
)

// TestInUse: a Namespace stays as long as an item has something in it after the job.
func TestInUse(t *testing.T) {
	space := diff.Object{APIVersion: "v1", Kind: "Namespace", Name: "n", Unwanted: true, Before: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "n"},
	}}
	dropping := func(more ...diff.Object) *task {
		t := wants("one", append(more, space)...)
		t.object = listing("one")
		return t
	}
	leaving := func() *task { t := dropping(); t.removal = true; return t }
	has := func(name string) *task {
		t := wants(name, row(nil, nil))
		t.compared = true
		return t
	}
	settled := &task{item: Item{Path: "root/two"}, object: recording(listing("two", "a")), settled: true}
	drops := &task{item: Item{Path: "root/two"}, object: recording(listing("two")), compared: true}
	drops.found.Objects = givesUp("two").found.Objects
	creates := wants("two", row(nil, deployed("two", "1")))
	const two = "root/one: stays, as long as deploy item root/two has ConfigMap n/a in it"
	for _, test := range []struct {
		reason string
		tasks  []*task
		live   *v1alpha1.DeployItem
		want   []string
	}{
		{"another item has something in it", []*task{dropping(), has("two")}, nil, []string{two}},
		{"another item has something in it when the item goes", []*task{leaving(), has("two")}, nil, []string{two}},
		{"the job leaves the other item alone", []*task{dropping(), settled}, nil, []string{two}},
		{"the item itself has something in it", []*task{dropping(row(nil, nil))}, nil, []string{"root/one: stays, as long as the deploy item itself has ConfigMap n/a in it"}},
		{"the other item is about to create something in it", []*task{leaving(), creates}, nil, []string{"root/one: delete", "root/two: create data.k metadata.labels['manifest.deployer.landscaper.gardener.cloud/deployitem']"}},
		{"the other item drops what it has in it", []*task{dropping(), drops}, nil, []string{"root/one: delete", "root/two: delete"}},
		{"the other item goes, too", []*task{dropping(), going("two")}, nil, []string{"root/one: delete", "root/two: delete"}},
		{"the other item is on another cluster", []*task{dropping(), has("two").at("edge")}, nil, []string{"root/one: delete"}},
		{"an item of another root has something in it", []*task{leaving()}, recording(listing("two", "a")), []string{"root/one: stays, as long as deploy item other/app has ConfigMap n/a in it"}},
		{"an item of another root has nothing in it", []*task{leaving()}, listing("two"), []string{"root/one: delete"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			c := &comparison{Previewer: &Previewer{}, secrets: newSecrets(), tasks: test.tasks, live: live{}, future: newFuture(&store{err: notFound()})}
			if test.live != nil {
				c.live = liveTrees([]*inspect.Node{neighbor("app", test.live)})
			}
			c.moves(t.Context())
			if difference := cmp.Diff(test.want, changesOf(c.result())); difference != "" {
				t.Error(difference)
			}
		})
	}
}
