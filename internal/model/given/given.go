// Package given has what an Installation gives to its items: their configurations come from a
// blueprint, whose author may name any Target of the namespace. An item carries what it was given in
// an annotation, and its deployer refuses the rest.
package given

import (
	"encoding/json"
	"fmt"
	"slices"

	"go.landscaper.dev/api/v1alpha1"
)

// Of returns what an item was given; nil for an item that may name what it likes.
func Of(item *v1alpha1.DeployItem) (*v1alpha1.Given, error) {
	text, limited := item.Annotations[v1alpha1.GivenAnnotation]
	if !limited {
		return nil, nil
	}
	read := &v1alpha1.Given{}
	if err := json.Unmarshal([]byte(text), read); err != nil {
		return nil, fmt.Errorf("the annotation %s of DeployItem %s/%s cannot be read: start a job of its Installation, which writes it again", v1alpha1.GivenAnnotation, item.Namespace, item.Name)
	}
	return read, nil
}

// Set writes into the annotations of an item what it was given.
func Set(annotations map[string]string, given *v1alpha1.Given) {
	if given == nil {
		delete(annotations, v1alpha1.GivenAnnotation)
		return
	}
	text, err := json.Marshal(given)
	if err != nil {
		panic(fmt.Sprintf("encode %T: %v", given, err)) // it consists of texts
	}
	annotations[v1alpha1.GivenAnnotation] = string(text)
}

// CheckTarget refuses a Target that the configuration of an item names and the item was not given.
func CheckTarget(item *v1alpha1.DeployItem, name string) error {
	limits, err := Of(item)
	if err != nil || limits == nil || slices.Contains(limits.Targets, name) {
		return err
	}
	return fmt.Errorf("the configuration of DeployItem %s/%s names a Target in targetName that its Installation does not import: import it, and let the template take the name from the import", item.Namespace, item.Name)
}
