package readiness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/deploy/fieldpath"
	"go.landscaper.dev/internal/deploy/target"
)

// Custom is a check of chosen objects whose configuration was checked.
type Custom struct {
	// Name is for people.
	Name string
	// TargetName names another Target, or is empty.
	TargetName string
	// Timeout limits the wait inside the time of the item; 0 if it does not.
	Timeout time.Duration

	references   []deployer.TypedObjectReference
	selector     *deployer.LabelSelectorSpec
	requirements []requirement
	expressions  *expressions
}

// Compile checks the custom checks of a configuration. Those that are disabled are
// left out, but must be right, too.
func Compile(specs []deployer.CustomReadinessCheckConfiguration) ([]Custom, error) {
	var checks []Custom
	for i, spec := range specs {
		check, err := compile(spec)
		if err != nil {
			return nil, fmt.Errorf("custom[%d]%w", i, err)
		}
		if !spec.Disabled {
			checks = append(checks, check)
		}
	}
	return checks, nil
}

func compile(spec deployer.CustomReadinessCheckConfiguration) (Custom, error) {
	check := Custom{Name: spec.Name, references: spec.Resource, selector: spec.LabelSelector}
	if err := choosesObjects(spec); err != nil {
		return check, err
	}
	if spec.TargetName != nil {
		check.TargetName = *spec.TargetName
	}
	if spec.Timeout != nil {
		limit, err := spec.Timeout.Parsed()
		if err != nil {
			return check, fmt.Errorf(".timeout: %w", err)
		}
		check.Timeout = limit
	}
	if len(spec.Requirements) == 0 && spec.Expressions == nil {
		return check, errors.New(".requirements is missing, or expressions: without them every object would do")
	}
	if spec.Expressions != nil {
		compiled, err := newExpressions(spec.Expressions)
		if err != nil {
			return check, fmt.Errorf(".expressions.%w", err)
		}
		check.expressions = compiled
	}
	for i, requirement := range spec.Requirements {
		compiled, err := newRequirement(requirement)
		if err != nil {
			return check, fmt.Errorf(".requirements[%d]: %w", i, err)
		}
		check.requirements = append(check.requirements, compiled)
	}
	return check, nil
}

// choosesObjects checks that a check has a name and says which objects it is about.
func choosesObjects(spec deployer.CustomReadinessCheckConfiguration) error {
	switch {
	case spec.Name == "":
		return errors.New(".name is missing")
	case len(spec.Resource) == 0 && spec.LabelSelector == nil:
		return errors.New(" chooses no objects: set resourceSelector or labelSelector")
	}
	for i, reference := range spec.Resource {
		if reference.APIVersion == "" || reference.Kind == "" || reference.Name == "" {
			return fmt.Errorf(".resourceSelector[%d] must have apiVersion, kind and name", i)
		}
	}
	if selector := spec.LabelSelector; selector != nil && (selector.APIVersion == "" || selector.Kind == "" || len(selector.Labels) == 0) {
		return errors.New(".labelSelector must have apiVersion, kind and matchLabels")
	}
	return nil
}

// look says how far an object has come: the expressions count, then all requirements.
func (c Custom) look(object *unstructured.Unstructured) Finding {
	if c.expressions != nil {
		if finding := c.expressions.look(object); !finding.Ready() {
			return finding
		}
	}
	for _, requirement := range c.requirements {
		if why := requirement.unmet(object.Object); why != "" {
			return Finding{Why: why}
		}
	}
	return Finding{}
}

// CustomCheck waits until the chosen objects are ready. Each look sees the objects that exist now:
// deleted ones are not remembered.
type CustomCheck struct {
	custom Custom
	chosen []*chosen
	// place is where the objects are if that is not the cluster of the item.
	place string
	// places is how many places of objects a look has come to.
	places int
}

// chosen is an object that was named, or all that have some labels.
type chosen struct {
	*target.Sight
	kind, namespace, name string
	// group is that of the kind, selector the labels that the objects have.
	group    string
	selector *labels.Set
	// all says that objects are found by their labels.
	all bool
	// nowhere says that the object has no namespace although its kind needs one.
	nowhere bool
}

// Begin begins the check on a cluster.
func (c Custom) Begin(ctx context.Context, cluster target.Cluster, wake func()) (*CustomCheck, error) {
	check := &CustomCheck{custom: c, place: target.Place(cluster)}
	for _, reference := range c.references {
		mapping, err := cluster.Mapping(ctx, schema.FromAPIVersionAndKind(reference.APIVersion, reference.Kind))
		if err != nil {
			return nil, fmt.Errorf("readiness check %q: find kind %s%s: %w", c.Name, reference.Kind, check.place, err)
		}
		sight := target.SightOf(cluster, mapping, reference.Namespace, reference.Name, wake)
		nowhere := reference.Namespace == "" && mapping.Scope.Name() == meta.RESTScopeNameNamespace
		check.chosen = append(check.chosen, &chosen{
			Sight: sight, group: mapping.GroupVersionKind.Group, kind: reference.Kind, namespace: reference.Namespace, name: reference.Name, nowhere: nowhere,
		})
	}
	if c.selector != nil {
		selector := labels.Set(c.selector.Labels)
		mapping, err := cluster.Mapping(ctx, schema.FromAPIVersionAndKind(c.selector.APIVersion, c.selector.Kind))
		if err != nil {
			return nil, fmt.Errorf("readiness check %q: find kind %s%s: %w", c.Name, c.selector.Kind, check.place, err)
		}
		sight := target.SightOfSelected(cluster, mapping, c.selector.Namespace, selector, wake)
		check.chosen = append(check.chosen, &chosen{
			Sight: sight, group: mapping.GroupVersionKind.Group, kind: c.selector.Kind, namespace: c.selector.Namespace,
			name: selector.String(), selector: &selector, all: true,
		})
	}
	return check, nil
}

// Look returns what is not ready.
//
// What is not ready is returned also beside the error that it cannot be watched.
//
// An object is followed from the first look that finds it not ready, and stays so until the
// check is over; ready ones cost no watch.
func (c *CustomCheck) Look(ctx context.Context) ([]Unfinished, error) {
	var unready []Unfinished
	c.places = 0
	for _, chosen := range c.chosen {
		objects, err := chosen.Look(ctx)
		if err != nil {
			return nil, fmt.Errorf("readiness check %q: look at %s: %w", c.custom.Name, c.unfinished(chosen, Finding{}).What(), err)
		}
		left, err := c.judge(ctx, chosen, objects)
		if err != nil {
			return nil, fmt.Errorf("readiness check %q: %w", c.custom.Name, err)
		}
		if len(left) == 0 {
			continue
		}
		if err := chosen.Follow(); err != nil {
			return append(unready, left...), fmt.Errorf("readiness check %q: %s is not ready: %s; %w", c.custom.Name, left[0].What(), left[0].Why, err)
		}
		unready = append(unready, left...)
	}
	return unready, nil
}

// judge returns which of the objects are not ready.
func (c *CustomCheck) judge(ctx context.Context, chosen *chosen, objects []*unstructured.Unstructured) ([]Unfinished, error) {
	if len(objects) == 0 {
		why := "it does not exist yet"
		switch {
		case chosen.all:
			why = "no object has these labels yet"
		case chosen.nowhere:
			why = "it does not exist: the check names no namespace for it"
		}
		missing := c.unfinished(chosen, Finding{Why: why})
		missing.absent, missing.group, missing.selector = true, chosen.group, chosen.selector
		return []Unfinished{missing}, nil
	}
	var unready []Unfinished
	for _, object := range objects {
		if err := c.affords(ctx, object); err != nil {
			return nil, err
		}
		if finding := c.custom.look(object); !finding.Ready() {
			found := unfinished(object, finding)
			found.Check, found.Place = c.custom.Name, c.place
			unready = append(unready, found)
		}
	}
	return unready, nil
}

// affords refuses an object if the paths of the check would come to too many places with it.
func (c *CustomCheck) affords(ctx context.Context, object *unstructured.Unstructured) error {
	for _, requirement := range c.custom.requirements {
		if c.places += requirement.path.Places(object.Object); c.places > fieldpath.MaxPlaces {
			return fieldpath.TooManyPlaces("what its requirements name")
		}
	}
	return ctx.Err() // the caller says whose check it is
}

// unfinished is what was chosen, as long as no object exists.
func (c *CustomCheck) unfinished(chosen *chosen, finding Finding) Unfinished {
	return Unfinished{Kind: chosen.kind, Namespace: chosen.namespace, Name: chosen.name, Check: c.custom.Name, Place: c.place, Finding: finding}
}

// Close ends all watches.
func (c *CustomCheck) Close() {
	for _, chosen := range c.chosen {
		chosen.Sight.Close()
	}
}
