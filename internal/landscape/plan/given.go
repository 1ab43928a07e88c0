package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.landscaper.dev/api/v1alpha1"
)

// errNotImported refuses a Target that a blueprint names and the Installation does not import.
// The credentials of the namespace are for those that its users have chosen.
var errNotImported = errors.New("the Installation imports no Target of this name: import it, and take its name from the import, as in target.import, or in {{ .imports.cluster.metadata.name }} for a targetName (an administrator can allow any name with blueprints.namedTargets)")

// give says what an item was given: the Targets that its configuration may name, and the resource of
// a component with its digests. The deployer refuses the rest. Items that only name what is
// imported need no such limit.
func (p *Plan) give(ctx context.Context, item *v1alpha1.DeployItemTemplate) error {
	if item.Configuration == nil {
		return nil
	}
	named := namedIn(item.Configuration.Raw)
	allowed := p.reachable(named)
	if field := refused(item, allowed); field != "" {
		return fmt.Errorf("config.%s: %w", field, errNotImported)
	}
	resource, err := p.resourceOf(ctx, item)
	if err != nil {
		return err // names the field
	}
	beyond := func(name string) bool { return !slices.Contains(allowed, name) }
	if resource != nil || named.unread || slices.ContainsFunc(named.targets, beyond) {
		item.Given = &v1alpha1.Given{Targets: allowed, Resource: resource}
	}
	return nil
}

// imported reports whether the Installation imports a Target of this name.
func (p *Plan) imported(name string) bool {
	if p.names == nil {
		p.names = map[string]bool{}
		for _, target := range p.in.Imports.AllTargets() {
			p.names[target.Name] = true
		}
	}
	return p.names[name]
}

// reachable returns which of the Targets that a configuration names its deployer may use, sorted. What
// deployers of others call the field of a second Target is unknown: so the names of imported
// Targets count wherever they are written.
func (p *Plan) reachable(in named) []string {
	var names []string
	for _, text := range in.texts {
		if p.imported(text) {
			names = append(names, text)
		}
	}
	if p.in.NamedTargets {
		names = append(names, in.targets...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// named are the texts in a configuration.
type named struct {
	// targets are the values of all fields targetName, at any depth; texts are all values.
	targets, texts []string
	// unread says that the configuration could not be looked through.
	unread bool
}

const targetNameField = "targetName"

// namedIn looks through a configuration, if it can name a second Target.
//
// The search for the word saves decoding the manifests of most items. It has to find each spelling
// that a deployer takes for the field: decoders ignore the case, and JSON can escape any letter.
func namedIn(configuration []byte) named {
	var found named
	if !bytes.Contains(bytes.ToLower(configuration), []byte(strings.ToLower(targetNameField))) && !bytes.Contains(configuration, []byte(`\u00`)) {
		return found
	}
	var value any
	if json.Unmarshal(configuration, &value) != nil {
		// No deployer reads it either; if one does, it gets nothing.
		return named{unread: true}
	}
	found.look(value)
	return found
}

func (n *named) look(value any) {
	switch value := value.(type) {
	case string:
		n.texts = append(n.texts, value)
	case []any:
		for _, element := range value {
			n.look(element)
		}
	case map[string]any:
		for key, element := range value {
			if text, ok := element.(string); ok && strings.EqualFold(key, targetNameField) {
				n.targets = append(n.targets, text)
			}
			n.look(element)
		}
	}
}

// secondTargets are the fields of our deployers that name a second Target. They are read so as to
// refuse a name before anything is deployed; it is the deployer that has the last word.
type secondTargets struct {
	Exports struct {
		Exports []targetNamed `json:"exports"`
	} `json:"exports"`
	ReadinessChecks struct {
		Custom []targetNamed `json:"custom"`
	} `json:"readinessChecks"`
	DeletionGroups             []groupNamed `json:"deletionGroups"`
	DeletionGroupsDuringUpdate []groupNamed `json:"deletionGroupsDuringUpdate"`
}

type targetNamed struct {
	TargetName string `json:"targetName"`
}

type groupNamed struct {
	CustomResourceGroup targetNamed `json:"customResourceGroup"`
}

// refused returns the first field of a configuration with a name that is not allowed.
func refused(item *v1alpha1.DeployItemTemplate, allowed []string) string {
	var read secondTargets
	if json.Unmarshal(item.Configuration.Raw, &read) != nil || !ours(item.Type) {
		return ""
	}
	lists := []struct {
		field   string
		targets []targetNamed
	}{{"exports.exports[%d].targetName", read.Exports.Exports}, {"readinessChecks.custom[%d].targetName", read.ReadinessChecks.Custom}}
	for _, groups := range []struct {
		field string
		list  []groupNamed
	}{{"deletionGroups", read.DeletionGroups}, {"deletionGroupsDuringUpdate", read.DeletionGroupsDuringUpdate}} {
		targets := make([]targetNamed, len(groups.list))
		for i, group := range groups.list {
			targets[i] = group.CustomResourceGroup
		}
		lists = append(lists, struct {
			field   string
			targets []targetNamed
		}{groups.field + "[%d].customResourceGroup.targetName", targets})
	}
	for _, list := range lists {
		for i, target := range list.targets {
			if target.TargetName != "" && !slices.Contains(allowed, target.TargetName) {
				return fmt.Sprintf(list.field, i)
			}
		}
	}
	return ""
}

func ours(kind v1alpha1.DeployItemType) bool {
	return kind == v1alpha1.ManifestDeployItemType || kind == v1alpha1.HelmDeployItemType || kind == v1alpha1.KustomizeDeployItemType
}
