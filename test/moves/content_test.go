package moves

import (
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
)

// TestContent: a Namespace and the definition of a kind stay as long as another item has something in
// them, and go with the last item that has.
func TestContent(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	const space, inside = "Namespace NAMESPACE-x", "ConfigMap NAMESPACE-x/inside in it"
	const definition, thing = "CustomResourceDefinition things.NAMESPACE.example.org", "Thing NAMESPACE/it in it"
	own := func(s scene) string { return yamlItem("own", "manage", s.settings("own")) }
	things := func(t *testing.T, s scene) string {
		return chartItem(t, "two", "web", s.space, map[string]string{"templates/a.yaml": s.thing()})
	}
	for _, test := range []struct {
		reason              string
		before, after, last func(t *testing.T, s scene) string
		stays               func(s scene) []named
		plan                string
		// pending is what the tree says after the job.
		pending string
	}{
		{reason: "the item of the Namespace goes",
			before: func(_ *testing.T, s scene) string {
				return yamlItem("one", "manage", s.namespace()) + yamlItem("two", "manage", s.inside()) + own(s)
			},
			after: func(_ *testing.T, s scene) string { return yamlItem("two", "manage", s.inside()) + own(s) },
			last:  func(_ *testing.T, s scene) string { return own(s) },
			stays: func(s scene) []named { return []named{s.liveNamespace(), s.liveInside()} },
			plan:  space + " stays, as long as deploy item tree/two has " + inside, pending: space},
		{reason: "the item drops the Namespace and stays",
			before: func(_ *testing.T, s scene) string {
				return yamlItem("one", "manage", s.namespace(), s.settings("a")) + yamlItem("two", "manage", s.inside()) + own(s)
			},
			after: func(_ *testing.T, s scene) string {
				return yamlItem("one", "manage", s.settings("a")) + yamlItem("two", "manage", s.inside()) + own(s)
			},
			last:  func(_ *testing.T, s scene) string { return yamlItem("one", "manage", s.settings("a")) + own(s) },
			stays: func(s scene) []named { return []named{s.liveNamespace(), s.liveInside()} },
			plan:  space + " stays, as long as deploy item tree/two has " + inside, pending: space + " stays as long as deploy item two has " + inside},
		{reason: "the item drops the Namespace and keeps what is in it",
			before: func(_ *testing.T, s scene) string {
				return yamlItem("one", "manage", s.namespace(), s.inside()) + own(s)
			},
			after: func(_ *testing.T, s scene) string { return yamlItem("one", "manage", s.inside()) + own(s) },
			last:  func(_ *testing.T, s scene) string { return own(s) },
			stays: func(s scene) []named { return []named{s.liveNamespace(), s.liveInside()} },
			plan:  space + " stays, as long as the deploy item itself has " + inside, pending: space + " stays as long as the deploy item itself has " + inside},
		{reason: "the item of the Namespace goes, and a kustomization is in it",
			before: func(t *testing.T, s scene) string {
				return yamlItem("one", "manage", s.namespace()) + filesItem(t, "two", s.inside()) + own(s)
			},
			after: func(t *testing.T, s scene) string { return filesItem(t, "two", s.inside()) + own(s) },
			last:  func(_ *testing.T, s scene) string { return own(s) },
			stays: func(s scene) []named { return []named{s.liveNamespace(), s.liveInside()} },
			plan:  space + " stays, as long as deploy item tree/two has " + inside, pending: space},
		{reason: "the item of the Namespace goes, and a release is in it",
			before: func(t *testing.T, s scene) string {
				return yamlItem("one", "manage", s.namespace()) + strings.Replace(chartItem(t, "two", "web", s.beside(), map[string]string{"templates/a.yaml": s.inside()}), `- {`, `- {"dependsOn":["one"],`, 1) + own(s)
			},
			after: func(t *testing.T, s scene) string {
				return chartItem(t, "two", "web", s.beside(), map[string]string{"templates/a.yaml": s.inside()}) + own(s)
			},
			last:  func(_ *testing.T, s scene) string { return own(s) },
			stays: func(s scene) []named { return []named{s.liveNamespace(), s.liveInside()} },
			plan:  space + " stays, as long as deploy item tree/two has " + inside, pending: space},
		{reason: "the release of the Namespace goes",
			before: func(t *testing.T, s scene) string {
				return chartItem(t, "one", "web", s.space, map[string]string{"templates/a.yaml": s.namespace()}) + yamlItem("two", "manage", s.inside()) + own(s)
			},
			after: func(_ *testing.T, s scene) string { return yamlItem("two", "manage", s.inside()) + own(s) },
			last:  func(_ *testing.T, s scene) string { return own(s) },
			stays: func(s scene) []named { return []named{s.liveNamespace(), s.liveInside()} },
			plan:  space + " stays, as long as deploy item tree/two has " + inside, pending: space},
		{reason: "the release drops the Namespace and stays",
			before: func(t *testing.T, s scene) string {
				return chartItem(t, "one", "web", s.space, map[string]string{"templates/a.yaml": s.namespace(), "templates/b.yaml": s.settings("b")}) + yamlItem("two", "manage", s.inside()) + own(s)
			},
			after: func(t *testing.T, s scene) string {
				return chartItem(t, "one", "web", s.space, map[string]string{"templates/b.yaml": s.settings("b")}) + yamlItem("two", "manage", s.inside()) + own(s)
			},
			last: func(t *testing.T, s scene) string {
				return chartItem(t, "one", "web", s.space, map[string]string{"templates/b.yaml": s.settings("b")}) + own(s)
			},
			stays: func(s scene) []named { return []named{s.liveNamespace(), s.liveInside()} },
			plan:  space + " stays, as long as deploy item tree/two has " + inside, pending: space + " stays as long as deploy item two has " + inside},
		{reason: "a release with another name drops the Namespace and keeps what is in it",
			before: func(t *testing.T, s scene) string {
				return chartItem(t, "one", "web", s.space, map[string]string{"templates/a.yaml": s.namespace(), "templates/b.yaml": s.inside()}) + own(s)
			},
			after: func(t *testing.T, s scene) string {
				return chartItem(t, "one", "shop", s.space, map[string]string{"templates/b.yaml": s.inside()}) + own(s)
			},
			last: func(t *testing.T, s scene) string {
				return chartItem(t, "one", "shop", s.space, map[string]string{"templates/b.yaml": s.settings("b")}) + own(s)
			},
			stays: func(s scene) []named { return []named{s.liveNamespace(), s.liveInside()} },
			plan:  space + " stays, as long as the deploy item itself has " + inside, pending: space + " stays as long as the deploy item itself has " + inside},
		{reason: "a release with another name drops the definition and keeps a resource of the kind",
			before: func(t *testing.T, s scene) string {
				return chartItem(t, "two", "web", s.space, map[string]string{"templates/crd.yaml": s.definition()}) + strings.Replace(chartItem(t, "one", "things", s.space, map[string]string{"templates/a.yaml": s.thing()}), `- {`, `- {"dependsOn":["two"],`, 1) + own(s)
			},
			after: func(t *testing.T, s scene) string {
				return chartItem(t, "two", "shop", s.space, map[string]string{"templates/a.yaml": s.settings("a")}) + chartItem(t, "one", "things", s.space, map[string]string{"templates/a.yaml": s.thing()}) + own(s)
			},
			last: func(t *testing.T, s scene) string {
				return chartItem(t, "two", "shop", s.space, map[string]string{"templates/a.yaml": s.settings("a")}) + own(s)
			},
			stays: func(s scene) []named { return []named{s.liveDefinition(), s.liveThing()} },
			plan:  definition + " stays, as long as deploy item tree/one has " + thing, pending: definition + " stays as long as deploy item one has " + thing},
		{reason: "the item of the definition goes",
			before: func(_ *testing.T, s scene) string {
				return yamlItem("one", "manage", s.definition()) + yamlItem("two", "manage", s.thing()) + own(s)
			},
			after: func(_ *testing.T, s scene) string { return yamlItem("two", "manage", s.thing()) + own(s) },
			last:  func(_ *testing.T, s scene) string { return own(s) },
			stays: func(s scene) []named { return []named{s.liveDefinition(), s.liveThing()} },
			plan:  definition + " stays, as long as deploy item tree/two has " + thing, pending: definition},
		{reason: "the item drops the definition, and a release has a resource of the kind",
			before: func(t *testing.T, s scene) string {
				return yamlItem("one", "manage", s.definition(), s.settings("a")) + strings.Replace(things(t, s), `- {`, `- {"dependsOn":["one"],`, 1) + own(s)
			},
			after: func(t *testing.T, s scene) string {
				return yamlItem("one", "manage", s.settings("a")) + things(t, s) + own(s)
			},
			last:  func(_ *testing.T, s scene) string { return yamlItem("one", "manage", s.settings("a")) + own(s) },
			stays: func(s scene) []named { return []named{s.liveDefinition(), s.liveThing()} },
			plan:  definition + " stays, as long as deploy item tree/two has " + thing, pending: definition + " stays as long as deploy item two has " + thing},
	} {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			s := scene{namespace(t)}
			named := func(text string) string { return strings.ReplaceAll(text, "NAMESPACE", s.space) }
			inst := waitSucceeded(t, create(t, installationOf(s.space, "tree", s.spec(t, test.before(t, s)))))
			uids := uidsOf(t, test.stays(s))
			plan, inst := s.change(t, inst, s.spec(t, test.after(t, s)))
			if !strings.Contains(plan, named(test.plan)+"\n") {
				t.Errorf("the plan has no %q:\n%s", named(test.plan), plan)
			}
			wantStays(t, uids)
			_, seen, _ := cli(t, "inst", "inspect", "tree", "-n", s.space, "--no-wrap")
			if !strings.Contains(seen, named(test.pending)) {
				t.Errorf("inspect does not say %q:\n%s", named(test.pending), seen)
			}
			// Another job changes nothing.
			inst = again(t, inst, getInstallation(t, inst).Spec, v1alpha1.InstallationPhases.Succeeded)
			wantStays(t, uids)
			plan, inst = s.change(t, inst, s.spec(t, test.last(t, s)))
			if !strings.Contains(plan, "2 to delete") && !strings.Contains(plan, "3 to delete") {
				t.Errorf("the plan of the last change:\n%s", plan)
			}
			for object := range uids {
				if live := object.live(t); live != nil && live.GetDeletionTimestamp() == nil {
					t.Errorf("%s %s is left", object.kind, object.name)
				}
			}
			wantNothingPending(t, s.space)
			if err := env.Admin.Delete(t.Context(), inst); err != nil {
				t.Fatal(err)
			}
			waitGone(t, env.Admin, inst.DeepCopy(), &v1alpha1.InstallationList{})
		})
	}
}

// TestContentOfAnotherTree: a tree that is deleted leaves the Namespace in which another tree has
// something to that one, and takes everything with it otherwise.
func TestContentOfAnotherTree(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	remove := func(t *testing.T, s scene, name string) (foreseen string) {
		t.Helper()
		_, foreseen, _ = cli(t, "inst", "delete", name, "-n", s.space, "--dry-run")
		inst := installationOf(s.space, name, v1alpha1.InstallationSpec{})
		if err := env.Admin.Delete(t.Context(), inst); err != nil {
			t.Fatal(err)
		}
		waitGone(t, env.Admin, inst.DeepCopy(), &v1alpha1.InstallationList{})
		return foreseen
	}
	t.Run("another tree has something in the Namespace", func(t *testing.T) {
		s := scene{namespace(t)}
		waitSucceeded(t, create(t, installationOf(s.space, "one", s.spec(t, yamlItem("space", "manage", s.namespace())))))
		waitSucceeded(t, create(t, installationOf(s.space, "two", s.spec(t, yamlItem("app", "manage", s.inside())))))
		uids := uidsOf(t, []named{s.liveNamespace(), s.liveInside()})
		if foreseen, want := remove(t, s, "one"), "= Namespace "+s.beside()+" stays, as long as deploy item two/app has ConfigMap "+s.beside()+"/inside in it"; !strings.Contains(foreseen, want) {
			t.Errorf("the preview of the deletion has no %q:\n%s", want, foreseen)
		}
		wantStays(t, uids)
		if foreseen, want := remove(t, s, "two"), "- Namespace "+s.beside(); !strings.Contains(foreseen, want) {
			t.Errorf("the preview of the deletion has no %q:\n%s", want, foreseen)
		}
		if live := s.liveNamespace().live(t); live != nil && live.GetDeletionTimestamp() == nil {
			t.Error("the Namespace is left")
		}
	})
	t.Run("a release of another tree has a resource of the kind", func(t *testing.T) {
		s := scene{namespace(t)}
		waitSucceeded(t, create(t, installationOf(s.space, "one", s.spec(t, yamlItem("kinds", "manage", s.definition())))))
		waitSucceeded(t, create(t, installationOf(s.space, "two", s.spec(t, chartItem(t, "app", "web", s.space, map[string]string{"templates/a.yaml": s.thing()})))))
		uids := uidsOf(t, []named{s.liveDefinition(), s.liveThing()})
		remove(t, s, "one")
		wantStays(t, uids)
		remove(t, s, "two")
		if live := s.liveDefinition().live(t); live != nil && live.GetDeletionTimestamp() == nil {
			t.Error("the definition is left")
		}
	})
	for _, test := range []struct {
		reason string
		item   func(s scene) string
	}{
		{"the Target of the Namespace leads to another cluster, and another tree has something in it", func(s scene) string { return yamlItem("space", "manage", s.namespace()) }},
		{"a release with the Namespace moves to another cluster, and another tree has something in it", func(s scene) string {
			return chartItem(t, "space", "web", s.space, map[string]string{"templates/a.yaml": s.namespace()})
		}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := scene{namespace(t)}
			createTarget(t, s.space, "other", otherKubeconfig(t))
			one := waitSucceeded(t, create(t, installationOf(s.space, "one", s.spec(t, test.item(s)))))
			waitSucceeded(t, create(t, installationOf(s.space, "two", s.spec(t, yamlItem("app", "manage", s.inside())))))
			uids := uidsOf(t, []named{s.liveNamespace(), s.liveInside()})
			s.change(t, one, itemsOn(t, s.space, "other", test.item(s)))
			wantStays(t, uids)
			remove(t, s, "one")
			wantStays(t, uids)
			remove(t, s, "two")
			if live := s.liveNamespace().live(t); live != nil && live.GetDeletionTimestamp() == nil {
				t.Error("the Namespace is left")
			}
		})
	}
	t.Run("a sub-installation goes whose Namespace another part of the tree uses", func(t *testing.T) {
		s := scene{namespace(t)}
		item := yamlItem("app", "manage", s.inside())
		imports := `imports: {targets: [{name: cluster, target: cluster}]}`
		blueprint := withSubs(blueprintOf(t, singleImport, item), subOf(t, "sub", imports, blueprintOf(t, singleImport, yamlItem("space", "manage", s.namespace()))))
		inst := waitSucceeded(t, create(t, installationOf(s.space, "tree", rootOf(t, s.space, `imports: {targets: [{name: cluster, target: host}]}`, blueprint))))
		uids := uidsOf(t, []named{s.liveNamespace(), s.liveInside()})
		_, inst = s.change(t, inst, s.spec(t, item))
		wantStays(t, uids)
		remove(t, s, inst.Name)
		if live := s.liveNamespace().live(t); live != nil && live.GetDeletionTimestamp() == nil {
			t.Error("the Namespace is left")
		}
	})
	t.Run("the whole tree is deleted", func(t *testing.T) {
		s := scene{namespace(t)}
		items := yamlItem("space", "manage", s.namespace(), s.definition()) + yamlItem("app", "manage", s.inside(), s.thing())
		waitSucceeded(t, create(t, installationOf(s.space, "tree", s.spec(t, items))))
		remove(t, s, "tree")
		for _, object := range []named{s.liveNamespace(), s.liveDefinition()} {
			if live := object.live(t); live != nil && live.GetDeletionTimestamp() == nil {
				t.Errorf("%s %s is left", object.kind, object.name)
			}
		}
	})
}

// TestPreviewOfDeleteAll: an object that a deletion group deletes besides its own item counts once.
func TestPreviewOfDeleteAll(t *testing.T) {
	startServer(t, env.ServerKubeconfig)
	s := scene{namespace(t)}
	if err := env.Workload.Create(t.Context(), configMap(s.space, "foreign")); err != nil {
		t.Fatal(err)
	}
	all := "deletionGroups: [{customResourceGroup: {deleteAllResources: true, resources: [{apiVersion: v1, kind: ConfigMap, namespaces: [" + s.space + "], names: [one, two, foreign]}]}}], manifests: ["
	one, two := strings.Replace(yamlItem("one", "manage", s.settings("one")), "manifests: [", all, 1), yamlItem("two", "manage", s.settings("two"))
	inst := waitSucceeded(t, create(t, installationOf(s.space, "tree", s.spec(t, one+two))))
	_, foreseen, _ := cli(t, "inst", "delete", "tree", "-n", s.space, "--dry-run")
	for _, name := range []string{"one", "two", "foreign"} {
		if found := strings.Count(foreseen, "- ConfigMap "+s.space+"/"+name+"\n"); found != 1 {
			t.Errorf("the preview of the deletion has ConfigMap %s %d times:\n%s", name, found, foreseen)
		}
	}
	plan, _ := s.change(t, inst, s.spec(t, two))
	for _, want := range []string{
		"? ConfigMap " + s.space + "/two: a deletion group of deploy item tree/one deletes it, too, if that item goes before this one is deployed",
		"0 to create, 0 to change, 2 to delete, 0 unchanged, 1 known only when the job runs",
	} {
		if !strings.Contains(plan, want) {
			t.Errorf("the plan has no %q:\n%s", want, plan)
		}
	}
}
