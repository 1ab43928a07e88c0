package preview

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/model/dataflow"
)

// basisVersion is part of each digest: another release that hashes something else gives other names.
const basisVersion = "landscaper.plan/v2"

// Basis is all that a plan follows from, with what it does.
type Basis struct {
	Installations []InstallationBasis
	Items         []ItemBasis
	// Follows are the roots that get a job, too.
	Follows []string
	Waiting []Waiting
	// After is the last job of the root: a plan is for one job, and its approval for no other one.
	After string
	// Deletion says that the root is deleted.
	Deletion bool
}

// InstallationBasis is an Installation of a tree.
type InstallationBasis struct {
	Path string
	// Object counts by its specification, and by which object it is.
	Object  *v1alpha1.Installation
	Imports dataflow.Imports
	// Component is nil without a component version; Blueprint is the digest of a blueprint that is in
	// no specification.
	Component *descriptor.Descriptor
	Blueprint string
}

// ItemBasis is an item of a tree.
type ItemBasis struct {
	Path string
	// Template is what was rendered; nil if the item goes.
	Template *v1alpha1.DeployItemTemplate
	// Cluster is the address of the cluster, empty if it was not reached.
	Cluster string
	// Unknown says that nothing is known about the objects.
	Unknown bool
	Objects []diff.Object
}

// Digest is the name of a plan: another plan has another one, and the same plan has the same whenever
// it is worked out. It follows from the values of Secrets as well, which cannot be guessed by it: it
// also follows from the UIDs of these Secrets, which are random, and known only to those who may read
// them.
func (b Basis) Digest() (string, error) {
	stated := struct {
		Version       string
		Installations []statedInstallation
		Items         []statedItem
		Follows       []string
		Waiting       []string
		After         string
		Deletion      bool
	}{Version: basisVersion, Follows: slices.Sorted(slices.Values(b.Follows)), After: b.After, Deletion: b.Deletion}
	for _, one := range b.Installations {
		installation, err := one.stated()
		if err != nil {
			return "", err // names the Installation
		}
		stated.Installations = append(stated.Installations, installation)
	}
	for _, one := range b.Items {
		stated.Items = append(stated.Items, one.stated())
	}
	for _, one := range b.Waiting {
		// The reason may say what time it is.
		stated.Waiting = append(stated.Waiting, one.Path)
	}
	slices.Sort(stated.Waiting)
	slices.SortFunc(stated.Installations, func(a, b statedInstallation) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(stated.Items, func(a, b statedItem) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), compareBools(a.Template == nil, b.Template == nil))
	})
	text, err := json.Marshal(stated)
	if err != nil {
		return "", fmt.Errorf("encode what the plan follows from: %w", err)
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

type statedInstallation struct {
	Path      string
	UID       string
	Spec      v1alpha1.InstallationSpec
	Imports   string
	Salts     []string
	Component *descriptor.Descriptor
	Blueprint string
}

func (b InstallationBasis) stated() (statedInstallation, error) {
	stated := statedInstallation{Path: b.Path, UID: string(b.Object.UID), Spec: b.Object.Spec, Blueprint: b.Blueprint}
	var err error
	if stated.Imports, err = dataflow.ImportsHash(b.Imports); err != nil {
		return stated, fmt.Errorf("Installation %s: %w", b.Path, err)
	}
	for name, value := range b.Imports.Data {
		if value.Salt != "" {
			stated.Salts = append(stated.Salts, name+" "+value.Salt)
		}
	}
	for _, target := range b.Imports.AllTargets() {
		stated.Salts = append(stated.Salts, target.Name+" "+string(target.UID))
	}
	slices.Sort(stated.Salts)
	if b.Component != nil {
		// The same version may be found in a mirror, and be signed later.
		component := *b.Component
		component.RepositoryContexts, component.Signatures = nil, nil
		stated.Component = &component
	}
	return stated, nil
}

type statedItem struct {
	Path     string
	Template *v1alpha1.DeployItemTemplate
	Cluster  string
	Unknown  bool
	Objects  []statedObject
}

func (b ItemBasis) stated() statedItem {
	stated := statedItem{Path: b.Path, Template: b.Template, Cluster: b.Cluster, Unknown: b.Unknown}
	for _, object := range b.Objects {
		stated.Objects = append(stated.Objects, stateOf(object))
	}
	slices.SortFunc(stated.Objects, func(a, b statedObject) int { return strings.Compare(a.key(), b.key()) })
	return stated
}

// statedObject is what happens to an object, with the fields that change and nothing beside them: what
// others change meanwhile is no other plan.
type statedObject struct {
	Change diff.Change
	UID    string
	// Applied is what is written of a new object. An API server fills in other values with each
	// creation, and with each dry run.
	Applied map[string]any
}

func stateOf(object diff.Object) statedObject {
	stated := statedObject{Change: diff.Bare(object)}
	if metadata, ok := object.Before["metadata"].(map[string]any); ok {
		stated.UID, _ = metadata["uid"].(string)
	}
	switch stated.Change.Action {
	case diff.Create, diff.Replace:
		stated.Change.Fields, stated.Applied = nil, object.Applied
	case diff.Unknown:
		// The reason may say what time it is.
		stated.Change.Reason = ""
	}
	return stated
}

func (s statedObject) key() string {
	return strings.Join([]string{s.Change.Cluster, s.Change.APIVersion, s.Change.Kind, s.Change.Namespace, s.Change.Name, string(s.Change.Action), s.UID}, "\x00")
}

// basis is what the plan of a comparison follows from.
func (c *comparison) basis() Basis {
	b := Basis{Follows: c.follows, Waiting: c.waiting, Deletion: c.deletion}
	if c.root != nil {
		b.After = c.root.Status.JobID
	}
	if c.deletion {
		b.Installations = append(b.Installations, InstallationBasis{Path: c.root.Name, Object: c.root})
	}
	for _, node := range c.nodes {
		one := InstallationBasis{Path: node.Path, Object: node.Installation(), Imports: node.Read()}
		if found := node.Component(); found != nil && found.Version != nil {
			one.Component = found.Version.Descriptor
		}
		if from := node.Blueprint(); from != nil {
			one.Blueprint = from.Digest
		}
		b.Installations = append(b.Installations, one)
	}
	for _, t := range c.tasks {
		b.Items = append(b.Items, ItemBasis{Path: t.item.Path, Template: t.template, Cluster: t.on, Unknown: t.err != nil, Objects: t.found.Objects})
	}
	return b
}
