package moves

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/landscape"
)

// part is an item of a tree that deploys objects, each KIND/NAME.
type part struct {
	name, kind string
	objects    []string
	// policy is that of its manifests, release the name of its release of Helm.
	policy, release string
	// more are further fields of the item.
	more map[string]any
}

// The kinds of parts.
const (
	ofManifests, ofRelease, ofTemplates, ofKustomization = "manifests", "release", "templates", "kustomization"
)

func manifestsOf(name string, objects ...string) part {
	return part{name: name, kind: ofManifests, objects: objects}
}

func releaseOf(name, release string, objects ...string) part {
	return part{name: name, kind: ofRelease, release: release, objects: objects}
}

func (p part) with(more map[string]any) part {
	p.more = maps.Clone(p.more)
	if p.more == nil {
		p.more = map[string]any{}
	}
	maps.Copy(p.more, more)
	return p
}

func (p part) under(policy string) part { p.policy = policy; return p }

func (p part) as(kind string) part { p.kind = kind; return p }

// after lets the part depend on another one.
func (p part) after(name string) part { return p.with(map[string]any{"dependsOn": []string{name}}) }

// onChange lets the part be deployed only after a change.
func (p part) onChange() part { return p.with(map[string]any{"updateOnChangeOnly": true}) }

// moving is the manifest of an object that the tests move.
func moving(object string) map[string]any {
	kind, name, _ := strings.Cut(object, "/")
	metadata := map[string]any{"name": name, "namespace": "NAMESPACE"}
	switch kind {
	case "ConfigMap":
		return map[string]any{"apiVersion": "v1", "kind": kind, "metadata": metadata, "data": map[string]any{"text": name}}
	case "PersistentVolumeClaim":
		metadata["annotations"] = map[string]any{"readiness.landscaper.gardener.cloud/skip": "true"}
		return map[string]any{"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": map[string]any{
			"accessModes": []any{"ReadWriteOnce"}, "resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}},
		}}
	}
	labels := map[string]any{"app": name}
	return map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": map[string]any{
		"replicas": 1, "selector": map[string]any{"matchLabels": labels},
		"template": map[string]any{"metadata": map[string]any{"labels": labels}, "spec": map[string]any{"containers": []any{map[string]any{"name": "a", "image": "example.org/a:1"}}}},
	}}
}

// config is the configuration of the item.
func (p part) config(t *testing.T) map[string]any {
	t.Helper()
	group := map[string]string{ofManifests: "manifest", ofRelease: "helm", ofTemplates: "helm", ofKustomization: "kustomize"}[p.kind]
	version := map[string]string{ofManifests: "v1alpha2"}[p.kind]
	if version == "" {
		version = "v1alpha1"
	}
	config := map[string]any{"apiVersion": group + ".deployer.landscaper.gardener.cloud/" + version, "kind": "ProviderConfiguration"}
	if p.kind != ofRelease {
		config["updateStrategy"] = "update"
	}
	files := map[string]string{}
	for _, object := range p.objects {
		files[strings.ToLower(strings.ReplaceAll(object, "/", "-"))+".yaml"] = textOf(t, moving(object))
	}
	switch p.kind {
	case ofManifests:
		list := []any{}
		for _, object := range p.objects {
			policy := p.policy
			if policy == "" {
				policy = "manage"
			}
			list = append(list, map[string]any{"policy": policy, "manifest": moving(object)})
		}
		config["manifests"] = list
	case ofKustomization:
		files["kustomization.yaml"] = textOf(t, map[string]any{"resources": slices.Sorted(maps.Keys(files))})
		config["source"] = map[string]any{"files": files}
	default:
		templates := map[string]string{}
		for name, text := range files {
			templates["templates/"+name] = strings.ReplaceAll(text, "NAMESPACE", "{{ .Release.Namespace }}")
		}
		archive, err := landscape.Chart("moving", "1.0.0", "", templates)
		if err != nil {
			t.Fatal(err)
		}
		config["name"], config["namespace"], config["helmDeployment"] = p.release, "NAMESPACE", p.kind == ofRelease
		config["chart"] = map[string]any{"archive": map[string]any{"raw": archive}}
	}
	return config
}

func (p part) item(t *testing.T) string {
	t.Helper()
	kind := map[string]string{ofManifests: "kubernetes-manifest", ofRelease: "helm", ofTemplates: "helm", ofKustomization: "kustomize"}[p.kind]
	item := map[string]any{"name": p.name, "type": "landscaper.gardener.cloud/" + kind, "target": map[string]any{"import": "cluster"}, "config": p.config(t)}
	maps.Copy(item, p.more)
	return "- " + textOf(t, item) + "\n"
}

// branch is an Installation with its parts and what is below it. It exports a value to its
// siblings, or imports one.
type branch struct {
	name             string
	parts            []part
	subs             []branch
	exports, imports string
}

func root(parts ...part) branch { return branch{parts: parts} }

func sub(name string, parts ...part) branch { return branch{name: name, parts: parts} }

func (b branch) above(subs ...branch) branch { b.subs = subs; return b }

func (b branch) exporting(name string) branch { b.exports = name; return b }

func (b branch) importing(name string) branch { b.imports = name; return b }

func (b branch) blueprint(t *testing.T) map[string]any {
	t.Helper()
	imports := `imports: [{name: cluster, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}`
	if b.imports != "" {
		imports += `, {name: ` + b.imports + `, type: data, schema: {type: string}}`
	}
	declared := imports + "]\n"
	if b.exports != "" {
		declared += `exports: [{name: ` + b.exports + `, type: data, schema: {type: string}}]
exportExecutions: [{name: main, type: GoTemplate, template: "exports: {` + b.exports + `: hello}"}]
`
	}
	var items strings.Builder
	for _, part := range b.parts {
		items.WriteString(part.item(t))
	}
	made := blueprintOf(t, declared, items.String())
	if len(b.parts) == 0 {
		delete(made, "deployExecutions")
	}
	for _, below := range b.subs {
		wiring := `imports: {targets: [{name: cluster, target: cluster}]`
		if below.imports != "" {
			wiring += `, data: [{name: ` + below.imports + `, dataRef: ` + below.imports + `}]`
		}
		wiring += "}\n"
		if below.exports != "" {
			wiring += `exports: {data: [{name: ` + below.exports + `, dataRef: ` + below.exports + `}]}` + "\n"
		}
		subs, _ := made["subinstallations"].([]any)
		made["subinstallations"] = append(subs, subOf(t, below.name, wiring, below.blueprint(t)))
	}
	return made
}

func (b branch) spec(t *testing.T, space string) v1alpha1.InstallationSpec {
	t.Helper()
	return rootOf(t, space, `imports: {targets: [{name: cluster, target: host}]}`, b.blueprint(t))
}

// objects are all that the tree wants.
func (b branch) objects() (all []string) {
	for _, part := range b.parts {
		all = append(all, part.objects...)
	}
	for _, below := range b.subs {
		all = append(all, below.objects()...)
	}
	return all
}

var movable = []schema.GroupVersionKind{
	{Version: "v1", Kind: "ConfigMap"}, {Version: "v1", Kind: "PersistentVolumeClaim"}, {Group: "apps", Version: "v1", Kind: "Deployment"},
}

// deployedIn are the objects in a namespace of the target cluster, by KIND/NAME.
func deployedIn(t *testing.T, space string) map[string]*unstructured.Unstructured {
	t.Helper()
	found := map[string]*unstructured.Unstructured{}
	for _, kind := range movable {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := env.Workload.List(t.Context(), list, client.InNamespace(space)); err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			if object := &list.Items[i]; object.GetName() != "kube-root-ca.crt" {
				found[kind.Kind+"/"+object.GetName()] = object
			}
		}
	}
	return found
}

// identity is the part of an object that must stay: its UID and its content.
type identity struct {
	UID     types.UID
	Content string
}

func (i identity) brief() string {
	return fmt.Sprintf("%s, %d bytes", i.UID, len(i.Content))
}

func identityOf(t *testing.T, object *unstructured.Unstructured) identity {
	t.Helper()
	content, err := json.Marshal([]any{object.Object["data"], object.Object["spec"]})
	if err != nil {
		t.Fatal(err)
	}
	return identity{object.GetUID(), string(content)}
}

// wantMoved compares what is deployed with what a tree wants. Every object of before is still the
// same one, no object is released for a takeover any more, and each has one owner.
func wantMoved(t *testing.T, space, when string, want branch, before map[string]*unstructured.Unstructured) {
	t.Helper()
	after := deployedIn(t, space)
	wanted := want.objects()
	slices.Sort(wanted)
	wanted = slices.Compact(wanted)
	if got := slices.Sorted(maps.Keys(after)); !slices.Equal(got, wanted) {
		t.Errorf("%s: deployed are %v, want %v", when, got, wanted)
	}
	for name, object := range after {
		if old := before[name]; old != nil && identityOf(t, old) != identityOf(t, object) {
			t.Errorf("%s: %s was replaced (%s, was %s)", when, name, identityOf(t, object).brief(), identityOf(t, old).brief())
		}
		if by := object.GetAnnotations()[v1alpha1.ReleasedByAnnotation]; by != "" {
			t.Errorf("%s: %s is still released by %s", when, name, by)
		}
		wantOneOwner(t, space, when, name, object)
	}
}

// wantOneOwner checks that an object names one item as its owner, and that this item exists.
func wantOneOwner(t *testing.T, space, when, name string, object *unstructured.Unstructured) {
	t.Helper()
	owners := map[string]bool{}
	for label, value := range object.GetLabels() {
		if strings.HasSuffix(label, ".deployer.landscaper.gardener.cloud/deployitem") {
			owners[value] = true
		}
	}
	inRelease := object.GetAnnotations()["meta.helm.sh/release-name"] != ""
	if len(owners) > 1 || len(owners) == 0 && !inRelease {
		t.Errorf("%s: the labels of %s name %v as owners", when, name, owners)
	}
	for owner := range owners {
		if err := env.Admin.Get(t.Context(), client.ObjectKey{Namespace: space, Name: owner}, &v1alpha1.DeployItem{}); err != nil {
			t.Errorf("%s: the owner of %s: %v", when, name, err)
		}
	}
}

// wantNothingPending checks that no object waits for the end of a job that is over.
func wantNothingPending(t *testing.T, space string) {
	t.Helper()
	insts, items := &v1alpha1.InstallationList{}, &v1alpha1.DeployItemList{}
	for _, list := range []client.ObjectList{insts, items} {
		if err := env.Admin.List(t.Context(), list, client.InNamespace(space)); err != nil {
			t.Fatal(err)
		}
	}
	check := func(name string, conditions []v1alpha1.Condition) {
		for _, condition := range conditions {
			if condition.Type == v1alpha1.PendingRemovalsCondition {
				t.Errorf("%s has still %s: %s", name, condition.Type, condition.Message)
			}
		}
	}
	for i := range insts.Items {
		check("Installation "+insts.Items[i].Name, insts.Items[i].Status.Conditions)
	}
	for i := range items.Items {
		check("DeployItem "+items.Items[i].Name, items.Items[i].Status.Conditions)
	}
}

// refused is a part whose configuration is wrong, so that a job fails.
func refused() part { return manifestsOf("refused", "ConfigMap/never").under("misspelt") }

// move is a change of a tree after which all that is still wanted is where it was.
type move struct {
	reason        string
	before, after branch
	// failing is what is asked for in between, with which the job fails.
	failing *branch
	// runs is how often it is played; once if it is 0.
	runs int
}

const (
	oneMap, otherMap, thirdMap = "ConfigMap/one", "ConfigMap/other", "ConfigMap/third"
)

var everyKind = []string{"ConfigMap/one", "Deployment/app", "PersistentVolumeClaim/data"}

// betweenItems are moves between two items that stay.
func betweenItems() []move {
	one, two := manifestsOf("one", otherMap), manifestsOf("two", oneMap, thirdMap)
	oneAfter, twoAfter := manifestsOf("one", otherMap, oneMap), manifestsOf("two", thirdMap)
	return []move{
		{reason: "to the item that it comes after", before: root(one, two.after("one")), after: root(oneAfter, twoAfter.after("one")), runs: 4},
		{reason: "to the item that comes after it", before: root(one.after("two"), two), after: root(oneAfter.after("two"), twoAfter), runs: 2},
		{reason: "between items without an order", before: root(one, two), after: root(oneAfter, twoAfter), runs: 4},
		{reason: "policy fallback, in an order", before: root(one.under("fallback"), two.under("fallback").after("one")),
			after: root(oneAfter.under("fallback"), twoAfter.under("fallback").after("one")), runs: 4},
		{reason: "policy fallback, without an order", before: root(one.under("fallback"), two.under("fallback")),
			after: root(oneAfter.under("fallback"), twoAfter.under("fallback")), runs: 4},
		{reason: "policy immutable", before: root(one.under("immutable"), two), after: root(oneAfter.under("immutable"), twoAfter), runs: 2},
		{reason: "only after a change, in an order", before: root(one.onChange(), two.onChange().after("one")),
			after: root(oneAfter.onChange(), twoAfter.onChange().after("one")), runs: 4},
		{reason: "only after a change, without an order", before: root(one.onChange(), two.onChange()),
			after: root(oneAfter.onChange(), twoAfter.onChange()), runs: 4},
		{reason: "an item that has it already, and does not change", before: root(manifestsOf("one", oneMap).onChange(), two.onChange().after("one")),
			after: root(manifestsOf("one", oneMap).onChange(), twoAfter.onChange().after("one")), runs: 2},
		{reason: "two items swap", before: root(manifestsOf("one", everyKind...), two.as(ofManifests)), after: root(manifestsOf("one", thirdMap), manifestsOf("two", everyKind...))},
	}
}

// renames are moves of all that an item or a sub-installation has.
func renames() []move {
	return []move{
		{reason: "an item", before: root(manifestsOf("one", everyKind...)), after: root(manifestsOf("renamed", everyKind...)), runs: 2},
		{reason: "an item, policy fallback", before: root(manifestsOf("one", everyKind...).under("fallback")), after: root(manifestsOf("renamed", everyKind...).under("fallback"))},
		{reason: "an item, policy immutable", before: root(manifestsOf("one", everyKind...)), after: root(manifestsOf("renamed", everyKind...).under("immutable"))},
		{reason: "an item that loses an object", before: root(manifestsOf("one", append([]string{otherMap}, everyKind...)...)), after: root(manifestsOf("renamed", everyKind...))},
		{reason: "two items exchange their names", before: root(manifestsOf("one", oneMap), manifestsOf("two", otherMap)), after: root(manifestsOf("two", oneMap), manifestsOf("one", otherMap))},
		{reason: "an item of a release", before: root(releaseOf("one", "web", everyKind...)), after: root(releaseOf("renamed", "web", everyKind...)), runs: 2},
		{reason: "an item of a release that loses an object", before: root(releaseOf("one", "web", oneMap, otherMap)), after: root(releaseOf("renamed", "web", oneMap))},
		{reason: "an item of templates", before: root(releaseOf("one", "web", everyKind...).as(ofTemplates)), after: root(releaseOf("renamed", "web", everyKind...).as(ofTemplates))},
		{reason: "an item of a kustomization", before: root(manifestsOf("one", everyKind...).as(ofKustomization)), after: root(manifestsOf("renamed", everyKind...).as(ofKustomization))},
		{reason: "a sub-installation", before: root().above(sub("one", manifestsOf("app", everyKind...))), after: root().above(sub("renamed", manifestsOf("app", everyKind...))), runs: 2},
		{reason: "a sub-installation beside another one", before: root(manifestsOf("own", otherMap)).above(sub("one", manifestsOf("app", everyKind...)), sub("beside", manifestsOf("app", thirdMap))),
			after: root(manifestsOf("own", otherMap)).above(sub("renamed", manifestsOf("app", everyKind...)), sub("beside", manifestsOf("app", thirdMap)))},
		{reason: "a sub-installation whose export another one imports",
			before: root().above(sub("one", manifestsOf("app", everyKind...)).exporting("url"), sub("beside", manifestsOf("app", thirdMap)).importing("url")),
			after:  root().above(sub("renamed", manifestsOf("app", everyKind...)).exporting("url"), sub("beside", manifestsOf("app", thirdMap)).importing("url"))},
		{reason: "a sub-installation with a release", before: root().above(sub("one", releaseOf("app", "web", everyKind...))), after: root().above(sub("renamed", releaseOf("app", "web", everyKind...)))},
		{reason: "a sub-installation with one below it", before: root().above(sub("one").above(sub("deep", manifestsOf("app", everyKind...)))), after: root().above(sub("renamed").above(sub("deep", manifestsOf("app", everyKind...))))},
	}
}

// betweenLevels are moves between Installations of a tree.
func betweenLevels() []move {
	a, b := sub("a", manifestsOf("app", oneMap, otherMap)), sub("b", manifestsOf("app", thirdMap))
	aAfter, bAfter := sub("a", manifestsOf("app", otherMap)), sub("b", manifestsOf("app", thirdMap, oneMap))
	return []move{
		{reason: "to a sibling that imports from it", before: root().above(a.exporting("url"), b.importing("url")), after: root().above(aAfter.exporting("url"), bAfter.importing("url")), runs: 2},
		{reason: "to a sibling that it imports from", before: root().above(a.importing("url"), b.exporting("url")), after: root().above(aAfter.importing("url"), bAfter.exporting("url")), runs: 2},
		{reason: "between siblings", before: root().above(a, b), after: root().above(aAfter, bAfter), runs: 2},
		{reason: "down", before: root(manifestsOf("own", otherMap, oneMap)).above(sub("b", manifestsOf("app", thirdMap))), after: root(manifestsOf("own", otherMap)).above(bAfter)},
		{reason: "up", before: root(manifestsOf("own", thirdMap)).above(a), after: root(manifestsOf("own", thirdMap, oneMap)).above(aAfter)},
		{reason: "all, down", before: root(manifestsOf("own", everyKind...)), after: root().above(sub("new", manifestsOf("app", everyKind...)))},
		{reason: "all, up", before: root().above(sub("old", manifestsOf("app", everyKind...))), after: root(manifestsOf("own", everyKind...))},
		{reason: "between sub-installations of different depth", before: root().above(sub("one").above(a), b), after: root().above(sub("one").above(aAfter), bAfter)},
		{reason: "from a chart to a sub-installation", before: root(releaseOf("own", "web", oneMap, otherMap)).above(sub("b", manifestsOf("app", thirdMap))),
			after: root(releaseOf("own", "web", otherMap)).above(bAfter)},
	}
}

// betweenTypes are moves from one deployer to another.
func betweenTypes() []move {
	manifests := manifestsOf("app", everyKind...)
	release := releaseOf("app", "web", everyKind...)
	templates, kustomization := release.as(ofTemplates), manifests.as(ofKustomization)
	chart := releaseOf("chart", "web", everyKind...)
	var all []move
	add := func(reason string, a, b part) {
		all = append(all, move{reason: reason, before: root(a), after: root(b)}, move{reason: reason + ", and back", before: root(b), after: root(a)})
	}
	add("manifests to a release, in another item", manifests, chart)
	add("manifests to templates, in another item", manifests, chart.as(ofTemplates))
	add("manifests to a kustomization, in another item", manifests, manifestsOf("files", everyKind...).as(ofKustomization))
	add("a kustomization to a release, in another item", kustomization, chart)
	add("a release to templates, in the same item", release, templates)
	add("manifests to a release without workloads", manifestsOf("app", oneMap), releaseOf("chart", "web", oneMap))
	one, two := manifestsOf("one", oneMap, otherMap), releaseOf("two", "web", thirdMap)
	add2 := func(reason string, before, after []part) {
		all = append(all, move{reason: reason, before: root(before...), after: root(after...)}, move{reason: reason + ", and back", before: root(after...), after: root(before...)})
	}
	add2("from one of manifests to a release", []part{one, two}, []part{manifestsOf("one", otherMap), releaseOf("two", "web", thirdMap, oneMap)})
	add2("from one of manifests to a release that comes before", []part{one.after("two"), two}, []part{manifestsOf("one", otherMap).after("two"), releaseOf("two", "web", thirdMap, oneMap)})
	add2("from one of manifests to a release that comes after", []part{one, two.after("one")}, []part{manifestsOf("one", otherMap), releaseOf("two", "web", thirdMap, oneMap).after("one")})
	add2("between two releases", []part{releaseOf("one", "front", oneMap, otherMap), two}, []part{releaseOf("one", "front", otherMap), releaseOf("two", "web", thirdMap, oneMap)})
	add2("two releases swap", []part{releaseOf("one", "front", oneMap), releaseOf("two", "web", otherMap)}, []part{releaseOf("one", "front", otherMap), releaseOf("two", "web", oneMap)})
	return all
}

// reverts are changes that fail and are reverted: no object of before is lost.
func reverts() []move {
	var all []move
	add := func(reason string, before, failing branch) {
		all = append(all, move{reason: reason, before: before, failing: &failing, after: before})
	}
	add("a renamed item", root(manifestsOf("one", everyKind...)), root(manifestsOf("renamed", everyKind...), refused()))
	add("a renamed item that comes too late", root(manifestsOf("one", everyKind...)), root(manifestsOf("renamed", everyKind...).after("refused"), refused()))
	add("a renamed item of a release", root(releaseOf("one", "web", everyKind...)), root(releaseOf("renamed", "web", everyKind...), refused()))
	add("a move between items", root(manifestsOf("one", otherMap), manifestsOf("two", oneMap, thirdMap)), root(manifestsOf("one", otherMap, oneMap), manifestsOf("two", thirdMap), refused()))
	add("a renamed sub-installation", root().above(sub("one", manifestsOf("app", everyKind...))), root().above(sub("renamed", manifestsOf("app", everyKind...), refused())))
	add("manifests that become a chart", root(manifestsOf("one", everyKind...)), root(releaseOf("chart", "web", everyKind...), refused()))
	add("an object that no item wants any more", root(manifestsOf("one", oneMap, otherMap), releaseOf("two", "web", thirdMap)), root(manifestsOf("one", oneMap), releaseOf("two", "web", thirdMap), refused()))
	add("an object of a chart that becomes a manifest", root(releaseOf("two", "web", append([]string{thirdMap}, everyKind...)...), manifestsOf("one", otherMap)),
		root(releaseOf("two", "web", thirdMap).after("refused"), manifestsOf("one", append([]string{otherMap}, everyKind...)...), refused()))
	add("an object that moves between two charts", root(releaseOf("two", "web", append([]string{thirdMap}, everyKind...)...), releaseOf("one", "front", otherMap)),
		root(releaseOf("two", "web", thirdMap), releaseOf("one", "front", append([]string{otherMap}, everyKind...)...), refused()))
	return all
}

// The moves: objects that the same tree still wants stay, whatever item deploys them then, and
// objects that no item wants are deleted. In the end, all of them are deleted with the tree.

func TestMovesBetweenItems(t *testing.T) { playAll(t, betweenItems()) }

func TestMovesByRename(t *testing.T) { playAll(t, renames()) }

func TestMovesBetweenLevels(t *testing.T) { playAll(t, betweenLevels()) }

func TestMovesBetweenTypes(t *testing.T) { playAll(t, betweenTypes()) }

func TestMovesTakenBack(t *testing.T) { playAll(t, reverts()) }

func playAll(t *testing.T, moves []move) {
	t.Helper()
	startServer(t, env.ServerKubeconfig)
	for _, m := range moves {
		for run := range max(m.runs, 1) {
			t.Run(fmt.Sprintf("%s/%d", m.reason, run), func(t *testing.T) {
				t.Parallel()
				m.play(t)
			})
		}
	}
}

func (m move) play(t *testing.T) {
	t.Helper()
	space := namespace(t)
	inst := waitSucceeded(t, create(t, installationOf(space, "tree", m.before.spec(t, space))))
	before := deployedIn(t, space)
	wantMoved(t, space, "at first", m.before, nil)
	if m.failing != nil {
		inst = again(t, inst, m.failing.spec(t, space), v1alpha1.InstallationPhases.Failed)
	}
	inst = again(t, inst, m.after.spec(t, space), v1alpha1.InstallationPhases.Succeeded)
	wantMoved(t, space, "after the move", m.after, before)
	wantNothingPending(t, space)
	inst = again(t, inst, inst.Spec, v1alpha1.InstallationPhases.Succeeded)
	wantMoved(t, space, "after another job", m.after, before)
	if err := env.Admin.Delete(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
	waitGone(t, env.Admin, inst.DeepCopy(), &v1alpha1.InstallationList{})
	wantGone(t, space)
}

// wantGone checks that nothing is left but what is being deleted.
func wantGone(t *testing.T, space string) {
	t.Helper()
	for name, object := range deployedIn(t, space) {
		err := env.Workload.Get(t.Context(), client.ObjectKeyFromObject(object), object)
		if !apierrors.IsNotFound(err) && object.GetDeletionTimestamp() == nil {
			t.Errorf("%s is left of the tree", name)
		}
	}
}
