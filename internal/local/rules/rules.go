// Package rules says what only a cluster could know in a landscape in memory: when objects become ready,
// what appears beside them, which calls fail.
package rules

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/internal/base/suggest"
	"go.landscaper.dev/internal/base/yamltext"
)

// The version and the kind of the file.
const (
	APIVersion = "local.landscaper.gardener.cloud/v1alpha1"
	Kind       = "LocalLandscape"
	// FileName is the name of the file in a folder.
	FileName = "local.yaml"
)

// Landscape is the content of the file.
type Landscape struct {
	metav1.TypeMeta `json:",inline"`
	// Namespace is that of objects that name none.
	Namespace string `json:"namespace,omitempty"`
	// Variables are the values of ${NAME} in manifests and constructors of the folder.
	Variables map[string]string `json:"variables,omitempty"`
	// Behaviour is what clusters do.
	Behaviour `json:",inline"`
}

// Behaviour is what target clusters have, and do.
type Behaviour struct {
	// Clusters have something from the beginning.
	Clusters []Cluster `json:"clusters,omitempty"`
	// Objects say what becomes of objects; the first that fits counts.
	Objects []Object `json:"objects,omitempty"`
	// Calls say what happens to requests; the first that fits counts.
	Calls []Call `json:"calls,omitempty"`
}

// Cluster is what a target cluster has from the beginning.
type Cluster struct {
	// Cluster is the name of a Target, with * for any text.
	Cluster string `json:"cluster"`
	// Kinds are served without a CustomResourceDefinition.
	Kinds []ServedKind `json:"kinds,omitempty"`
	Given `json:",inline"`
}

// ServedKind is a kind that a cluster serves.
type ServedKind struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Resource is its name in paths; the usual plural without it.
	Resource string `json:"resource,omitempty"`
	// Global kinds are in no namespace.
	Global bool `json:"global,omitempty"`
}

// Given are objects, here or in files of the folder.
type Given struct {
	Manifests []Manifest `json:"manifests,omitempty"`
	Files     []string   `json:"files,omitempty"`
}

// Manifest is an object.
type Manifest map[string]any

// Object returns it as the clients have it.
func (m Manifest) Object() *unstructured.Unstructured { return &unstructured.Unstructured{Object: m} }

// Match says which objects are meant. What is empty fits all; * stands for any text.
type Match struct {
	Cluster    string            `json:"cluster,omitempty"`
	APIVersion string            `json:"apiVersion,omitempty"`
	Kind       string            `json:"kind,omitempty"`
	Namespace  string            `json:"namespace,omitempty"`
	Name       string            `json:"name,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"`
}

// Object says what becomes of an object that was created, or whose specification has changed.
type Object struct {
	Match Match `json:"match"`
	// After is how long that takes.
	After metav1.Duration `json:"after,omitempty"`
	// Ready is false for what never becomes ready.
	Ready *bool `json:"ready,omitempty"`
	// Merge is merged into the object, with its status.
	Merge Manifest `json:"merge,omitempty"`
	// Create appears beside it.
	Create []Appearance `json:"create,omitempty"`
}

// Appearance is what appears on a cluster.
type Appearance struct {
	// Cluster is the name of a Target; that of the object without it.
	Cluster string `json:"cluster,omitempty"`
	Given   `json:",inline"`
}

// Call says what happens to requests.
type Call struct {
	Match Match `json:"match"`
	// Verbs are those of Kubernetes; all without them.
	Verbs []string `json:"verbs,omitempty"`
	// Times is how many requests are meant; all without it.
	Times int `json:"times,omitempty"`
	// Delay is how long an answer takes.
	Delay metav1.Duration `json:"delay,omitempty"`
	// Forbidden refuses, as for a user without the right.
	Forbidden bool `json:"forbidden,omitempty"`
	// Fail is another answer than the usual one.
	Fail *Failure `json:"fail,omitempty"`
}

// Failure is the answer to a request that fails.
type Failure struct {
	Code    int    `json:"code"`
	Message string `json:"message,omitempty"`
}

// Parse reads the file. The name is for messages.
func Parse(name string, text []byte) (*Landscape, error) {
	landscape := &Landscape{}
	if err := Decode(name, text, APIVersion, Kind, landscape); err != nil {
		return nil, err
	}
	if err := landscape.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return landscape, nil
}

// Decode reads a file of one document strictly.
func Decode(name string, text []byte, apiVersion, kind string, into any) error {
	documents, err := yamltext.Documents(text, yamltext.DefaultLimits())
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if len(documents) != 1 {
		return fmt.Errorf("%s: it has %d documents: write one", name, len(documents))
	}
	raw, err := documents[0].JSON()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	var is metav1.TypeMeta
	if err := json.Unmarshal(raw, &is); err != nil {
		return fmt.Errorf("%s: it is not an object: begin with apiVersion: %s and kind: %s", name, apiVersion, kind)
	}
	if is.APIVersion != apiVersion || is.Kind != kind {
		return fmt.Errorf("%s: it is of kind %q in %q: write apiVersion: %s and kind: %s", name, is.Kind, is.APIVersion, apiVersion, kind)
	}
	if unknown := documents[0].Unknown(reflect.TypeOf(into)); unknown != nil {
		return fmt.Errorf("%s: line %d: there is no field %q%s", name, unknown.Line, unknown.Name, suggest.DidYouMean(unknown.Name, unknown.Known))
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%s: %w", name, yamltext.Explain(err))
	}
	return nil
}

// Check returns what is wrong with the rules.
func (b *Behaviour) Check() error {
	var errs []error
	for i, cluster := range b.Clusters {
		errs = append(errs, cluster.check(fmt.Sprintf("clusters[%d]", i)))
	}
	for i, object := range b.Objects {
		errs = append(errs, object.check(fmt.Sprintf("objects[%d]", i)))
	}
	for i, call := range b.Calls {
		errs = append(errs, call.check(fmt.Sprintf("calls[%d]", i)))
	}
	return errors.Join(errs...)
}

func (c *Cluster) check(at string) error {
	var errs []error
	if c.Cluster == "" {
		errs = append(errs, fmt.Errorf("%s.cluster: name a Target, or * for all", at))
	}
	for i, kind := range c.Kinds {
		if kind.Kind == "" || kind.APIVersion == "" {
			errs = append(errs, fmt.Errorf("%s.kinds[%d]: write apiVersion and kind", at, i))
		}
	}
	return errors.Join(append(errs, c.Given.check(at))...)
}

func (o *Object) check(at string) error {
	errs := []error{o.Match.check(at)}
	if o.After.Duration < 0 {
		errs = append(errs, fmt.Errorf("%s.after is below 0", at))
	}
	for i, appearance := range o.Create {
		errs = append(errs, appearance.Given.check(fmt.Sprintf("%s.create[%d]", at, i)))
		if strings.Contains(appearance.Cluster, "*") {
			errs = append(errs, fmt.Errorf("%s.create[%d].cluster: name one Target", at, i))
		}
	}
	return errors.Join(errs...)
}

func (c *Call) check(at string) error {
	errs := []error{c.Match.check(at)}
	switch {
	case c.Fail != nil && (c.Fail.Code < 400 || c.Fail.Code > 599):
		errs = append(errs, fmt.Errorf("%s.fail.code is %d: write a code from 400 to 599", at, c.Fail.Code))
	case c.Fail != nil && c.Forbidden:
		errs = append(errs, fmt.Errorf("%s: write fail or forbidden, not both", at))
	case c.Fail == nil && !c.Forbidden && c.Delay.Duration == 0:
		errs = append(errs, fmt.Errorf("%s: write what happens: delay, forbidden or fail", at))
	case c.Delay.Duration < 0 || c.Times < 0:
		errs = append(errs, fmt.Errorf("%s: delay and times cannot be below 0", at))
	}
	for _, verb := range c.Verbs {
		if !slices.Contains(knownVerbs, verb) {
			errs = append(errs, fmt.Errorf("%s.verbs: there is no verb %q: use %s", at, verb, strings.Join(knownVerbs, ", ")))
		}
	}
	return errors.Join(errs...)
}

// knownVerbs are those of requests to objects.
var knownVerbs = []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}

func (g *Given) check(at string) error {
	for i, manifest := range g.Manifests {
		object := manifest.Object()
		if object.GetAPIVersion() == "" || object.GetKind() == "" || object.GetName() == "" {
			return fmt.Errorf("%s.manifests[%d]: write apiVersion, kind and metadata.name", at, i)
		}
	}
	return nil
}

func (m *Match) check(at string) error {
	for _, pattern := range []string{m.Cluster, m.APIVersion, m.Kind, m.Namespace, m.Name} {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("%s.match: %q is not a pattern: only * has a meaning", at, pattern)
		}
	}
	return nil
}

// like compares a text with a pattern; an empty one fits all.
func like(pattern, text string) bool {
	if pattern == "" || pattern == "*" {
		return true
	}
	// A slash is a letter like any other.
	fits, _ := path.Match(strings.ReplaceAll(pattern, "/", "\x00"), strings.ReplaceAll(text, "/", "\x00"))
	return fits
}

// Fits reports whether a rule is about an object of a cluster.
func (m *Match) Fits(cluster string, object *unstructured.Unstructured) bool {
	for key, value := range m.Labels {
		if object.GetLabels()[key] != value {
			return false
		}
	}
	return m.FitsName(cluster, object.GetAPIVersion(), object.GetKind(), object.GetNamespace(), object.GetName())
}

// FitsName is Fits where there is only a name.
func (m *Match) FitsName(cluster, apiVersion, kind, namespace, name string) bool {
	return like(m.Cluster, cluster) && like(m.APIVersion, apiVersion) && like(m.Kind, kind) && like(m.Namespace, namespace) && like(m.Name, name)
}

// For returns what a cluster has from the beginning.
func (b *Behaviour) For(cluster string) []Cluster {
	var fitting []Cluster
	for _, given := range b.Clusters {
		if like(given.Cluster, cluster) {
			fitting = append(fitting, given)
		}
	}
	return fitting
}

// Given are all objects that the rules bring to clusters.
func (b *Behaviour) Given() (all []*Given) {
	for i := range b.Clusters {
		all = append(all, &b.Clusters[i].Given)
	}
	for i := range b.Objects {
		for j := range b.Objects[i].Create {
			all = append(all, &b.Objects[i].Create[j].Given)
		}
	}
	return all
}

// Files are those that the rules name.
func (b *Behaviour) Files() (names []string) {
	for _, given := range b.Given() {
		names = append(names, given.Files...)
	}
	return names
}

// Before returns these rules, and behind them others.
func (b Behaviour) Before(others Behaviour) Behaviour {
	return Behaviour{
		Clusters: append(append([]Cluster{}, b.Clusters...), others.Clusters...),
		Objects:  append(append([]Object{}, b.Objects...), others.Objects...),
		Calls:    append(append([]Call{}, b.Calls...), others.Calls...),
	}
}

// rule returns the rule for an object; the default without one.
func (b *Behaviour) rule(cluster string, object *unstructured.Unstructured) Object {
	for _, rule := range b.Objects {
		if rule.Match.Fits(cluster, object) {
			return rule
		}
	}
	return Object{}
}
