package deliveryplan

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/model/dataflow/targets"
)

// Permits are what a job may write, by the paths of Installations in the names of blueprints.
type Permits struct {
	// Digest is that of the plan.
	Digest string `json:"digest"`
	// Installations have the sums of their children.
	Installations map[string]Children `json:"installations,omitempty"`
	// Unknown are the paths of Installations that only the job can work out: they, and all below them,
	// may write what they work out.
	Unknown []string `json:"unknown,omitempty"`
}

// Children are sums of what an Installation writes: of its items and subinstallations.
type Children map[string]string

// Sealer makes sums that only the server can make: they follow from secret values, too, and must not let
// these be guessed. They are those of one plan of one Installation.
type Sealer struct {
	Key    []byte
	Root   types.UID
	Digest string
}

// Rendered is what a job writes for an Installation.
type Rendered struct {
	// Path leads to it from the root, in the names of blueprints.
	Path string
	// Lineage are the Installations from the root to this one.
	Lineage  []*v1alpha1.Installation
	Children *plan.Children
	// Targets are those that it imports.
	Targets []*v1alpha1.Target
}

// Permits are those of a whole tree. Unknown are the Installations that only the job can work out.
func (s Sealer) Permits(tree []Rendered, unknown []string) (Permits, error) {
	permits := Permits{Digest: s.Digest, Unknown: unknown, Installations: map[string]Children{}}
	for _, one := range tree {
		sums, err := s.Children(one)
		if err != nil {
			return Permits{}, fmt.Errorf("%s: %w", one.Path, err)
		}
		permits.Installations[one.Path] = sums
	}
	return permits, nil
}

// Children are the sums of what an Installation writes. An item counts with the Target that it is deployed
// to, by the name that it has for the root.
func (s Sealer) Children(of Rendered) (Children, error) {
	sums := Children{}
	for i := range of.Children.DeployItems {
		item := of.Children.DeployItems[i].DeepCopy()
		stated := struct {
			Item   *v1alpha1.DeployItemTemplate
			Target *v1alpha1.TargetSpec
		}{Item: item}
		if item.Target != nil {
			at := slices.IndexFunc(of.Targets, func(target *v1alpha1.Target) bool { return target.Name == item.Target.Name })
			if at >= 0 {
				stated.Target = &of.Targets[at].Spec
			}
			item.Target.Name = targets.NameOf(of.Lineage, item.Target.Name)
		}
		if err := s.add(sums, "item "+item.Name, stated, of); err != nil {
			return nil, err
		}
	}
	for _, sub := range of.Children.Subinstallations {
		if err := s.add(sums, "subinstallation "+sub.Name, sub.Installation.Spec, of); err != nil {
			return nil, err
		}
	}
	return sums, nil
}

func (s Sealer) add(sums Children, name string, value any, of Rendered) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	text = of.withSources(text)
	mac := hmac.New(sha256.New, s.Key)
	for _, part := range []string{"landscaper.permit/v1", string(s.Root), s.Digest, name} {
		// The length says where a text ends.
		_, _ = mac.Write([]byte(strconv.Itoa(len(part)) + ":" + part)) // a hash does not fail
	}
	_, _ = mac.Write(text) // a hash does not fail
	sums[name] = base64.RawStdEncoding.EncodeToString(mac.Sum(nil))
	return nil
}

// withSources replaces the names of copied Targets in what is rendered by the names that these Targets have
// for the root: those of copies below an Installation that does not exist yet are others in the job. The
// zeros around them are in no JSON, so that nothing else that is rendered looks like that.
func (r Rendered) withSources(text []byte) []byte {
	for _, target := range r.Targets {
		if targets.IsCopy(target.Name) && bytes.Contains(text, []byte(target.Name)) {
			text = bytes.ReplaceAll(text, []byte(target.Name), []byte("\x00"+targets.NameOf(r.Lineage, target.Name)+"\x00"))
		}
	}
	return text
}

// PathOf is the path of the last Installation of a lineage, with the names that its parents have noted in
// their statuses: users may change the annotation with the name. The trouble is that one of the lineage is
// not as its parent has written it in this job: what it writes follows from its specification, also where
// no plan says what that is.
func PathOf(lineage []*v1alpha1.Installation) (path, trouble string) {
	names := []string{lineage[0].Name}
	for i, inst := range lineage[1:] {
		var pairs []v1alpha1.SubNamePair
		if cache := lineage[i].Status.SubInstCache; cache != nil {
			pairs = cache.ActiveSubs
		}
		at := slices.IndexFunc(pairs, func(pair v1alpha1.SubNamePair) bool { return pair.ObjectName == inst.Name })
		if at < 0 {
			return "", "Installation " + inst.Name + " is not one that its parent has written"
		}
		// A release that has begun the job may have noted nothing.
		if written := pairs[at].Written; written != nil && *written != WrittenOf(inst) {
			return "", "Installation " + inst.Name + " was changed after its parent had written it"
		}
		names = append(names, pairs[at].SpecName)
	}
	return strings.Join(names, "/"), ""
}

// WrittenOf is what a parent notes of a subinstallation.
func WrittenOf(sub *v1alpha1.Installation) v1alpha1.WrittenSub {
	return v1alpha1.WrittenSub{UID: sub.UID, Generation: sub.Generation}
}

// Check says what an Installation would write that is not permitted, and what it would delete because it
// does not write it; empty if there is nothing.
func (p Permits) Check(path string, written Children) string {
	if slices.ContainsFunc(p.Unknown, func(unknown string) bool { return path == unknown || strings.HasPrefix(path, unknown+"/") }) {
		return ""
	}
	permitted, planned := p.Installations[path]
	if !planned {
		return "Installation " + path + " is not part of it"
	}
	for _, name := range slices.Sorted(maps.Keys(written)) {
		switch sum, has := permitted[name]; {
		case !has:
			return name + " of " + path + " is not part of it"
		case !hmac.Equal([]byte(sum), []byte(written[name])):
			return name + " of " + path + " is another one now"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(permitted)) {
		if _, has := written[name]; !has {
			return name + " of " + path + " would not be written, and be deleted if it exists"
		}
	}
	return ""
}
