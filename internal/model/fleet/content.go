package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
)

// Content is what a revision of a Fleet keeps: everything from which the Installation of a Target follows,
// except the Target.
type Content struct {
	Template  fleetv1alpha1.FleetTemplate   `json:"template"`
	Version   string                        `json:"version,omitempty"`
	Values    []fleetv1alpha1.FleetValue    `json:"values,omitempty"`
	Overrides []fleetv1alpha1.FleetOverride `json:"overrides,omitempty"`
}

// ContentOf is that of the specification, with the version that a Channel has found.
func ContentOf(spec *fleetv1alpha1.FleetSpec, found string) Content {
	content := Content{Template: spec.Template, Values: spec.Values, Overrides: spec.Overrides}
	if spec.Version != nil {
		content.Version = spec.Version.Version
		if spec.Version.Channel != "" {
			content.Version = found
		}
	}
	return content
}

// Encode returns the content as JSON in which the order of fields does not matter.
func (c Content) Encode() ([]byte, error) { return canonical(c) }

// Decode reads what Encode has written.
func Decode(raw []byte) (Content, error) {
	var content Content
	if err := json.Unmarshal(raw, &content); err != nil {
		return Content{}, fmt.Errorf("read the revision: %w", err)
	}
	return content, nil
}

// maxRevisionBase is how much of the name of a Fleet is in that of its revisions.
const maxRevisionBase = 200

// Revision is the name of the revision of a content.
func (c Content) Revision(fleet string) (string, error) {
	sum, err := digestOf(c)
	if err != nil {
		return "", err
	}
	return strings.TrimRight(fleet[:min(len(fleet), maxRevisionBase)], "-.") + "-" + sum, nil
}

// check refuses what cannot be meant. The schema has refused what can be seen there.
func (c Content) check() error {
	var errs []error
	for _, keys := range []struct {
		field string
		of    map[string]string
	}{{"labels", c.Template.Labels}, {"annotations", c.Template.Annotations}} {
		for key := range keys.of {
			if reserved(key) {
				errs = append(errs, fmt.Errorf("spec.template.%s: %s is set by the server", keys.field, key))
			}
		}
	}
	component := c.Template.Spec.ComponentDescriptor
	if versioned := c.Version != ""; versioned && (component == nil || component.Reference == nil) {
		errs = append(errs, errors.New("spec.version has no effect: spec.template.spec.componentDescriptor.ref does not name a component"))
	}
	return errors.Join(errs...)
}

func reserved(key string) bool {
	return strings.HasPrefix(key, fleetv1alpha1.GroupName+"/") || key == v1alpha1.OperationAnnotation
}

// canonical encodes a value so that equal values have equal texts.
func canonical(of any) ([]byte, error) {
	raw, err := json.Marshal(of)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	value, err := jsonvalue.FromJSONWithNumbers(raw)
	if err != nil {
		return nil, fmt.Errorf("read again: %w", err)
	}
	if raw, err = json.Marshal(value); err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return raw, nil
}

func digestOf(of any) (string, error) {
	raw, err := canonical(of)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8]), nil
}

// SpecDigest identifies the specification of an Installation, also one that the API server has completed.
func SpecDigest(spec *v1alpha1.InstallationSpec) (string, error) {
	completed := *spec
	if completed.Context == "" {
		completed.Context = v1alpha1.DefaultContextName
	}
	return digestOf(&completed)
}
