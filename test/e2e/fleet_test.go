package e2e

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/server/install"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
)

const fleetGate = "Fleets=true"

// levelBlueprint makes a ConfigMap with the name of the Target. The level bad fails.
const levelBlueprint = `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
imports:
- {name: cluster, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}
- {name: level, type: data, schema: {type: string}}
- {name: region, type: data, schema: {type: string}}
deployExecutions:
- name: default
  type: GoTemplate
  template: |
    {{ if eq .imports.level "bad" }}{{ fail "bad" }}{{ end }}
    deployItems:
    - name: one
      type: landscaper.gardener.cloud/kubernetes-manifest
      target: {import: cluster}
      config:
        apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2
        kind: ProviderConfiguration
        manifests:
        - manifest:
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: {{ .imports.cluster.metadata.name }}, namespace: {{ .imports.cluster.metadata.namespace }}}
            data: {level: {{ toJson .imports.level }}, region: {{ toJson .imports.region }}}
`

// newFleet is a Fleet of all Targets with the label fleet.
func newFleet(space, name, level string) *fleetv1alpha1.Fleet {
	text := func(value string) v1alpha1.AnyJSON { return v1alpha1.NewAnyJSON(fmt.Appendf(nil, "%q", value)) }
	unknown := text("unknown")
	spec := landscape.Described(space, name, levelBlueprint).Spec
	spec.Imports.Targets = nil
	spec.ImportDataMappings = map[string]v1alpha1.AnyJSON{"level": text(level)}
	return &fleetv1alpha1.Fleet{
		ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name},
		Spec: fleetv1alpha1.FleetSpec{
			Targets:  fleetv1alpha1.FleetTargets{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"fleet": "yes"}}},
			Template: fleetv1alpha1.FleetTemplate{TargetImport: "cluster", Spec: spec},
			Values:   []fleetv1alpha1.FleetValue{{Import: "region", Annotation: "region", Value: &unknown}},
			Rollout: &fleetv1alpha1.Rollout{Waves: []fleetv1alpha1.Wave{
				{Name: "first", Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"canary": "yes"}}},
				{Name: "some", Percent: 34},
			}},
		},
	}
}

// fleetTarget makes a Target that Fleets select.
func fleetTarget(t *testing.T, space, name string, labels map[string]string, region string) {
	t.Helper()
	target, err := landscape.Target(space, name, env.TargetKubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	target.Labels = map[string]string{"fleet": "yes"}
	maps.Copy(target.Labels, labels)
	if region != "" {
		target.Annotations = map[string]string{"region": region}
	}
	if err := env.Admin.Create(t.Context(), target); err != nil {
		t.Fatal(err)
	}
}

// sixTargets are in three waves of two.
func sixTargets(t *testing.T) string {
	t.Helper()
	space := namespace(t)
	for i := range 6 {
		labels := map[string]string{}
		if i < 2 {
			labels["canary"] = "yes"
		}
		fleetTarget(t, space, fmt.Sprint("t", i), labels, "")
	}
	return space
}

func waitFleet(t *testing.T, of *fleetv1alpha1.Fleet, what string, condition func(*fleetv1alpha1.Fleet) bool) *fleetv1alpha1.Fleet {
	t.Helper()
	events, err := env.Admin.Watch(t.Context(), &fleetv1alpha1.FleetList{}, client.InNamespace(of.Namespace), client.MatchingFields{"metadata.name": of.Name})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	limit, last := time.After(waitLimit), of
	for {
		select {
		case event, open := <-events.ResultChan():
			if !open {
				return waitFleet(t, of, what, condition)
			}
			if found, ok := event.Object.(*fleetv1alpha1.Fleet); ok {
				if last = found; condition(found) {
					return found
				}
			}
		case <-limit:
			t.Fatalf("Fleet %s is not %s: %+v", of.Name, what, last.Status)
		}
	}
}

func fleetReason(f *fleetv1alpha1.Fleet, kind string) string {
	if said := meta.FindStatusCondition(f.Status.Conditions, kind); said != nil && f.Status.ObservedGeneration == f.Generation {
		return said.Reason
	}
	return ""
}

func rolledOut(f *fleetv1alpha1.Fleet) bool {
	return fleetReason(f, fleetv1alpha1.ReadyCondition) == "UpToDate"
}

func rolloutStopped(f *fleetv1alpha1.Fleet) bool {
	return fleetReason(f, fleetv1alpha1.ReadyCondition) == "RolloutStopped" && f.Status.Waves[0].State == fleetv1alpha1.WaveStopped
}

// setLevel gives a Fleet another level.
func setLevel(t *testing.T, of *fleetv1alpha1.Fleet, level string) *fleetv1alpha1.Fleet {
	t.Helper()
	return changeFleet(t, of, func(f *fleetv1alpha1.Fleet) {
		f.Spec.Template.Spec.ImportDataMappings["level"] = v1alpha1.NewAnyJSON(fmt.Appendf(nil, "%q", level))
	})
}

func changeFleet(t *testing.T, of *fleetv1alpha1.Fleet, change func(*fleetv1alpha1.Fleet)) *fleetv1alpha1.Fleet {
	t.Helper()
	for {
		found := &fleetv1alpha1.Fleet{}
		if err := env.Admin.Get(t.Context(), client.ObjectKeyFromObject(of), found); err != nil {
			t.Fatal(err)
		}
		change(found)
		err := env.Admin.Update(t.Context(), found)
		if err == nil {
			return found
		}
		if !apierrors.IsConflict(err) {
			t.Fatal(err)
		}
	}
}

// levels are what the Targets have, as Target=level, and what else the ConfigMaps say.
func levels(t *testing.T, space string) string {
	t.Helper()
	list := &corev1.ConfigMapList{}
	if err := env.Workload.List(t.Context(), list, client.InNamespace(space)); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, one := range list.Items {
		if level, is := one.Data["level"]; is {
			all = append(all, one.Name+"="+level)
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// fleetWrites counts the writes of Installations of a namespace by the server, without those of statuses.
func fleetWrites(t *testing.T, user, space string, since lab.Mark) map[string]int {
	t.Helper()
	requests, err := env.Resource.Requests(t.Context(), since, user)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, one := range requests {
		if one.Namespace == space && (one.Verb == "create" || one.Verb == "update" || one.Verb == "patch" || one.Verb == "delete") && one.Status < 300 {
			counts[one.Verb+" "+one.Resource]++
		}
	}
	return counts
}

// TestFleet: Fleets with a real API server and the real server.
func TestFleet(t *testing.T) {
	const user = "landscaper-fleet"
	rules, err := landscape.WriteRules(t.TempDir(), user, map[string]any{"featureGates": map[string]any{"Fleets": true}})
	if err != nil {
		t.Fatal(err)
	}
	added, err := env.Resource.AddUser(t.Context(), lab.UserOptions{Name: user, ManifestFile: rules})
	if err != nil {
		t.Fatal(err)
	}
	if err := install.Run(t.Context(), env.Admin, install.Options{Fleets: true}, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	whole := t
	server := startServer(whole, added.Kubeconfig, "--feature-gates", fleetGate)

	t.Run("a bad specification stops at the first wave and goes back", func(t *testing.T) {
		space := sixTargets(t)
		f := newFleet(space, "shop", "good")
		f.Spec.Rollout.OnFailure = fleetv1alpha1.FailureGoBackWave
		createFleet(t, f)
		f = waitFleet(t, f, "ready", rolledOut)
		if got := levels(t, space); got != "t0=good t1=good t2=good t3=good t4=good t5=good" {
			t.Errorf("levels: %s", got)
		}
		if c := f.Status.Counts; c.Targets != 6 || c.Succeeded != 6 || len(f.Status.Waves) != 3 || f.Status.LastRevision != f.Status.Revision {
			t.Errorf("status: %+v", f.Status)
		}
		good := f.Status.Revision
		f = waitFleet(t, setLevel(t, f, "bad"), "stopped", rolloutStopped)
		if got := levels(t, space); got != "t0=good t1=good t2=good t3=good t4=good t5=good" {
			t.Errorf("levels: %s", got)
		}
		if f.Status.LastRevision != good || f.Status.Waves[1].State != fleetv1alpha1.WaveWaiting || f.Status.Waves[0].Counts.Failed != 2 {
			t.Errorf("status: %+v", f.Status)
		}
		for i := range 6 {
			inst := waitSucceeded(t, newInstallation(space, fmt.Sprint("shop-t", i), oneConfigMap))
			if inst.Annotations[fleetv1alpha1.RevisionAnnotation] != good || inst.Generation > 3 || i > 1 && inst.Generation != 1 {
				t.Errorf("%s has generation %d, %v", inst.Name, inst.Generation, inst.Annotations)
			}
		}
		waitFleet(t, setLevel(t, f, "better"), "ready", rolledOut)
		if got := levels(t, space); got != "t0=better t1=better t2=better t3=better t4=better t5=better" {
			t.Errorf("levels: %s", got)
		}
		revisions := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ControllerRevisionList"}}
		if err := env.Admin.List(t.Context(), revisions, client.InNamespace(space)); err != nil || len(revisions.Items) != 3 {
			t.Errorf("%d revisions, %v", len(revisions.Items), err)
		}
	})
	t.Run("a server that is killed goes on, and repeats nothing", func(t *testing.T) {
		space := sixTargets(t)
		f := newFleet(space, "kept", "one")
		for i := range f.Spec.Rollout.Waves {
			f.Spec.Rollout.Waves[i].MaxParallel = 1
		}
		createFleet(t, f)
		f = waitFleet(t, f, "ready", rolledOut)
		setLevel(t, f, "two")
		for _, wave := range []string{"first", "some", "rest"} {
			waitFleet(t, f, "in wave "+wave, func(f *fleetv1alpha1.Fleet) bool {
				return f.Status.Wave == wave || rolledOut(f) && f.Status.ObservedGeneration == 2
			})
			server.EndBy(syscall.SIGKILL)
			server = startServer(whole, added.Kubeconfig, "--feature-gates", fleetGate)
		}
		waitFleet(t, f, "ready", func(f *fleetv1alpha1.Fleet) bool { return rolledOut(f) && f.Generation == 2 })
		if got := levels(t, space); got != "t0=two t1=two t2=two t3=two t4=two t5=two" {
			t.Errorf("levels: %s", got)
		}
		for i := range 6 {
			if inst := waitSucceeded(t, newInstallation(space, fmt.Sprint("kept-t", i), oneConfigMap)); inst.Generation != 2 {
				t.Errorf("%s has generation %d", inst.Name, inst.Generation)
			}
		}
	})
	t.Run("values are data, whatever they have", func(t *testing.T) {
		space := namespace(t)
		regions := map[string]string{"plain": "south", "expression": "(( cluster.spec.config ))", "escaped": "((! x ))", "yaml": "a: [b", "quote": `"}} (( 1 + 1 ))`}
		for name, region := range regions {
			fleetTarget(t, space, name, nil, region)
		}
		f := newFleet(space, "data", "one")
		createFleet(t, f)
		waitFleet(t, f, "ready", rolledOut)
		for name, region := range regions {
			made := configMap(space, name)
			if err := env.Workload.Get(t.Context(), client.ObjectKeyFromObject(made), made); err != nil || made.Data["region"] != region {
				t.Errorf("%s has %v, %v; want %q", name, made.Data, err, region)
			}
		}
	})
	t.Run("the first Fleet has the name", func(t *testing.T) {
		space := namespace(t)
		fleetTarget(t, space, "b-c", map[string]string{"of": "a"}, "")
		fleetTarget(t, space, "c", map[string]string{"of": "b"}, "")
		one, other := newFleet(space, "a", "one"), newFleet(space, "a-b", "other")
		one.Spec.Targets.Selector.MatchLabels["of"], other.Spec.Targets.Selector.MatchLabels["of"] = "a", "b"
		createFleet(t, one)
		waitFleet(t, one, "ready", rolledOut)
		createFleet(t, other)
		waitFleet(t, other, "blocked", func(f *fleetv1alpha1.Fleet) bool {
			said := meta.FindStatusCondition(f.Status.Conditions, fleetv1alpha1.ReadyCondition)
			return said != nil && said.Reason == "Blocked" && strings.Contains(said.Message, "Installation a-b-c belongs to Fleet a")
		})
		if got := levels(t, space); got != "b-c=one" {
			t.Errorf("levels: %s", got)
		}
		// When the first one is deleted, its Installation is left to users, and so to the other.
		if err := env.Admin.Delete(t.Context(), one); err != nil {
			t.Fatal(err)
		}
		waitFleet(t, other, "ready", rolledOut)
		if got := levels(t, space); !strings.Contains(got, "c=other") {
			t.Errorf("levels: %s", got)
		}
	})
	t.Run("what becomes of Targets that vanish", func(t *testing.T) {
		space := sixTargets(t)
		f := newFleet(space, "less", "one")
		f.Spec.Removal = &fleetv1alpha1.FleetRemoval{Policy: fleetv1alpha1.RemovalDelete, Grace: "1s"}
		createFleet(t, f)
		waitFleet(t, f, "ready", rolledOut)
		remove := func(names ...string) {
			for _, name := range names {
				if err := env.Admin.Delete(t.Context(), &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name}}); err != nil {
					t.Fatal(err)
				}
			}
		}
		remove("t5")
		waitFleet(t, f, "without one", func(f *fleetv1alpha1.Fleet) bool { return f.Status.Counts.Targets == 5 && f.Status.Departed == 0 })
		if got := levels(t, space); got != "t0=one t1=one t2=one t3=one t4=one" {
			t.Errorf("levels: %s", got)
		}
		remove("t3", "t4")
		f = waitFleet(t, f, "held", func(f *fleetv1alpha1.Fleet) bool {
			return f.Status.Departed == 2 && fleetReason(f, fleetv1alpha1.TargetsPresentCondition) == "TooManyRemovals"
		})
		if got := levels(t, space); got != "t0=one t1=one t2=one t3=one t4=one" {
			t.Errorf("levels: %s", got)
		}
		changeFleet(t, f, func(f *fleetv1alpha1.Fleet) {
			f.Annotations = map[string]string{fleetv1alpha1.AllowRemovalAnnotation: "2"}
		})
		waitFleet(t, f, "allowed", func(f *fleetv1alpha1.Fleet) bool {
			return f.Status.Departed == 0 && f.Annotations[fleetv1alpha1.AllowRemovalAnnotation] == ""
		})
		if got := levels(t, space); got != "t0=one t1=one t2=one" {
			t.Errorf("levels: %s", got)
		}
		changeFleet(t, f, func(f *fleetv1alpha1.Fleet) { f.Spec.Removal = nil })
		remove("t2")
		waitFleet(t, f, "waiting", func(f *fleetv1alpha1.Fleet) bool {
			return f.Status.Departed == 1 && fleetReason(f, fleetv1alpha1.TargetsPresentCondition) == "TargetsMissing"
		})
		changeFleet(t, f, func(f *fleetv1alpha1.Fleet) {
			f.Spec.Removal = &fleetv1alpha1.FleetRemoval{Policy: fleetv1alpha1.RemovalOrphan, Grace: "1s"}
		})
		waitFleet(t, f, "without it", func(f *fleetv1alpha1.Fleet) bool { return f.Status.Departed == 0 })
		inst := waitSucceeded(t, newInstallation(space, "less-t2", oneConfigMap))
		if len(inst.Labels) > 0 || inst.Annotations[fleetv1alpha1.FleetUIDAnnotation] != "" {
			t.Errorf("it keeps %v, %v", inst.Labels, inst.Annotations)
		}
		if got := levels(t, space); got != "t0=one t1=one t2=one" {
			t.Errorf("levels: %s", got)
		}
	})
	t.Run("gates, a promotion, a pause and the way back by command", func(t *testing.T) {
		space := sixTargets(t)
		f := newFleet(space, "gated", "one")
		createFleet(t, f)
		waitFleet(t, f, "ready", rolledOut)
		command := func(args ...string) string {
			t.Helper()
			code, out, complaints := cli(t, append([]string{"fleet", "-n", space}, args...)...)
			if code != 0 {
				t.Fatalf("%v: code %d, %s%s", args, code, out, complaints)
			}
			return out
		}
		changeFleet(t, f, func(f *fleetv1alpha1.Fleet) {
			f.Spec.Rollout.Waves[0].Gates = []fleetv1alpha1.Gate{{Name: "good", Expression: "installation.status.phase == 'Succeeded'"}, {Name: "lead", Promotion: true}}
		})
		setLevel(t, f, "two")
		waitFleet(t, f, "gated", func(f *fleetv1alpha1.Fleet) bool {
			return f.Status.ObservedGeneration == f.Generation && f.Status.Waves[0].State == fleetv1alpha1.WaveGated && strings.HasPrefix(f.Status.Waves[0].Message, "lead: ")
		})
		t.Log(command("show", "gated", "--all"))
		command("pause", "gated", "--reason", "audit")
		command("promote", "gated")
		waitFleet(t, f, "paused", func(f *fleetv1alpha1.Fleet) bool {
			return fleetReason(f, fleetv1alpha1.ReadyCondition) == "Paused" && f.Status.Waves[0].State == fleetv1alpha1.WaveGated
		})
		if got := levels(t, space); strings.Count(got, "two") != 2 {
			t.Errorf("levels: %s", got)
		}
		command("resume", "gated")
		t.Log(command("watch", "gated"))
		if got := levels(t, space); got != "t0=two t1=two t2=two t3=two t4=two t5=two" {
			t.Errorf("levels: %s", got)
		}
		command("go-back", "gated")
		waitFleet(t, f, "gated again", func(f *fleetv1alpha1.Fleet) bool {
			return f.Status.ObservedGeneration == f.Generation && f.Status.Waves[0].State == fleetv1alpha1.WaveGated
		})
		command("promote", "gated")
		waitFleet(t, f, "ready", rolledOut)
		if got := levels(t, space); got != "t0=one t1=one t2=one t3=one t4=one t5=one" {
			t.Errorf("levels: %s", got)
		}
		t.Log(command("list"))
	})
	t.Run("a selector that says nothing is refused", func(t *testing.T) {
		f := newFleet(namespace(t), "all", "one")
		f.Spec.Targets.Selector = &metav1.LabelSelector{}
		if err := env.Admin.Create(t.Context(), f); err == nil || !strings.Contains(err.Error(), "would select every Target") {
			t.Errorf("the answer is %v", err)
		}
	})
	t.Run("a roll-out costs an Installation one write more than alone", func(t *testing.T) {
		const count = 100
		space := namespace(t)
		for i := range count {
			fleetTarget(t, space, fmt.Sprintf("t%03d", i), nil, "")
		}
		f := newFleet(space, "many", "one")
		f.Spec.Rollout.Waves = []fleetv1alpha1.Wave{{Name: "few", Percent: 10}, {Name: "all", MaxParallel: 30}}
		mark := func() lab.Mark {
			at, err := env.Resource.Mark(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return at
		}
		begin := mark()
		createFleet(t, f)
		f = waitFleet(t, f, "ready", rolledOut)
		first := fleetWrites(t, user, space, begin)
		again := mark()
		waitFleet(t, setLevel(t, f, "two"), "ready", rolledOut)
		second := fleetWrites(t, user, space, again)
		t.Logf("first roll-out: %v; second: %v", first, second)
		if first["create installations.landscaper.gardener.cloud"] != count {
			t.Errorf("created: %v", first)
		}
		// The Fleet writes each Installation once. The other writes are those of its job alone.
		if second["update installations.landscaper.gardener.cloud"] != count {
			t.Errorf("updated: %v", second)
		}
		if status := second["update fleets.fleet.landscaper.dev/status"]; status > 60 {
			t.Errorf("%d writes of the status", status)
		}
		idle := mark()
		waitSucceeded(t, create(t, newInstallation(space, "other", oneConfigMap)))
		for what, times := range fleetWrites(t, user, space, idle) {
			if strings.Contains(what, "fleets") || strings.Contains(what, "create installations") {
				t.Errorf("%s %d times without a change", what, times)
			}
		}
	})
	server.EndBy(syscall.SIGTERM)
}

// createFleet stores a Fleet.
func createFleet(t *testing.T, f *fleetv1alpha1.Fleet) {
	t.Helper()
	if err := env.Admin.Create(t.Context(), f); err != nil {
		t.Fatal(err)
	}
}
