// Package shoot has a shoot with the extension for Flux: its owner, gardenlet, the resource manager, the
// controllers of Extensions, and their rules.
package shoot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/controller/shootflux/access"
	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/lifecycle"
	"go.landscaper.dev/test/model/store"
	"go.landscaper.dev/test/model/world"
)

// resourceManager is the finalizer of the one who carries ManagedResources to the shoot.
const resourceManager = "resources.gardener.cloud/gardener-resource-manager"

// placed is an object in the shoot.
type placed struct {
	text string
	// by is the ManagedResource that it is a part of; empty if it is left to the owner of the shoot.
	// An annotation has the last one, its origin.
	by, origin string
}

// Seed is a shoot with what is beside it on its seed: the resource manager, and gardenlet.
type Seed struct {
	world *world.World
	// shoot are the objects in the shoot by kind, namespace and name.
	shoot map[string]placed
	// wanted is what the owner asks for, and applied what the last success was about.
	wanted, applied order
	hibernates      bool
	// asked is how often gardenlet has written.
	asked int
	// kept is the state of a shoot that is on its way to another seed.
	kept *gardener.ExtensionStatus
	// Late are the objects that replicas have created after they were replaced.
	Late map[types.UID]bool
	// controller is the one of Extensions.
	controller *lifecycle.Reconciler
}

// New returns a seed without an Extension.
func New(w *world.World) *Seed {
	return &Seed{world: w, shoot: map[string]placed{}, Late: map[types.UID]bool{}}
}

// place is the name of an object in the shoot.
func place(kind, namespace, name string) string { return kind + " " + namespace + "/" + name }

// Tasks are what gardenlet and the resource manager have to do.
func (s *Seed) Tasks() (tasks []func()) {
	if s.departed() {
		tasks = append(tasks, s.depart)
	}
	if s.hibernates || !s.world.Rates.Shoots {
		return tasks // the resource manager does not run
	}
	objects := s.world.Store.Objects
	for _, key := range store.KeysOf(objects["ManagedResource"]) {
		resource := objects["ManagedResource"][key].(*gardener.ManagedResource)
		switch {
		case resource.DeletionTimestamp != nil && len(resource.Finalizers) > 0:
			tasks = append(tasks, func() { s.drop(resource) })
		case resource.DeletionTimestamp != nil:
		case len(resource.Finalizers) == 0:
			tasks = append(tasks, func() {
				next := resource.DeepCopy()
				next.Finalizers = []string{resourceManager}
				world.Must(s.world.Store.Update(next, false))
			})
		case resource.Status.ObservedGeneration != resource.Generation || !isTrue(resource, gardener.ResourcesHealthy):
			tasks = append(tasks, func() { s.carry(resource) })
		}
	}
	token := types.NamespacedName{Namespace: world.SeedSpace, Name: access.TokenSecret}
	if asked, _ := objects["Secret"][token].(*corev1.Secret); asked != nil && len(asked.Data) == 0 {
		tasks = append(tasks, func() {
			next := asked.DeepCopy()
			next.Data = map[string][]byte{"token": []byte(world.SecretMark)}
			world.Must(s.world.Store.Update(next, false))
		})
	}
	return tasks
}

func isTrue(resource *gardener.ManagedResource, kind string) bool {
	found := gardener.FindCondition(resource.Status.Conditions, kind)
	return found != nil && found.Status == gardener.ConditionTrue
}

// carry brings the contents of a ManagedResource to the shoot, or fails, or is not ready with it yet.
func (s *Seed) carry(resource *gardener.ManagedResource) {
	w, next := s.world, resource.DeepCopy()
	applied, healthy := true, !w.Calm && w.Random.IntN(3) > 0 || w.Calm
	reason, said := "ApplySucceeded", "all is well"
	contents, missing := s.contents(resource)
	switch {
	case missing != "" && s.Late[resource.UID]:
		// The next replica may have deleted the Secret: it removes the ManagedResource as well, or writes
		// the Secret anew for another Extension.
		applied, healthy, reason, said = false, false, "CannotReadSecret", missing+" does not exist"
	case missing != "":
		w.Violate("ManagedResource %s names Secret %s, which does not exist", resource.Name, missing)
	case !w.Calm && w.Random.IntN(6) == 0:
		applied, healthy, reason, said = false, false, "ApplyFailed", "it does not go"
		if resource.Name == lifecycle.DataName {
			said = "cannot write " + world.SecretMark
		}
	default:
		next.Status.Resources = s.write(resource.Name, contents)
	}
	next.Status.ObservedGeneration = resource.Generation
	for kind, holds := range map[string]bool{gardener.ResourcesApplied: applied, gardener.ResourcesHealthy: healthy} {
		condition := gardener.Condition{Type: kind, Status: gardener.ConditionFalse, Reason: reason, Message: said}
		if holds {
			condition.Status = gardener.ConditionTrue
		}
		next.Status.Conditions = gardener.SetCondition(next.Status.Conditions, condition, store.Now())
	}
	slices.SortFunc(next.Status.Conditions, func(a, b gardener.Condition) int { return strings.Compare(a.Type, b.Type) })
	w.Note("the resource manager carries %s: %t %t", resource.Name, applied, healthy)
	if raw, before := store.Encoded(next.Status), store.Encoded(resource.Status); !bytes.Equal(raw, before) {
		next.Status = gardener.ManagedResourceStatus{}
		world.Must(json.Unmarshal(raw, &next.Status))
		s.mention(func() { world.Must(w.Store.Update(next, true)) })
	}
}

// mention writes a status that may say anything: it is not of a controller.
func (s *Seed) mention(write func()) {
	show := s.world.Store.Show
	s.world.Store.Show = func(string, string) {}
	write()
	s.world.Store.Show = show
}

// contents are the objects of a ManagedResource, or the name of a Secret that is missing.
func (s *Seed) contents(resource *gardener.ManagedResource) (objects []*unstructured.Unstructured, missing string) {
	for _, reference := range resource.Spec.SecretRefs {
		secret, _ := s.world.Store.Objects["Secret"][types.NamespacedName{Namespace: resource.Namespace, Name: reference.Name}].(*corev1.Secret)
		if secret == nil {
			return nil, reference.Name
		}
		for _, key := range slices.Sorted(maps.Keys(secret.Data)) {
			for document := range strings.SplitSeq(string(secret.Data[key]), "---\n") {
				if strings.TrimSpace(document) == "" {
					continue
				}
				object := &unstructured.Unstructured{}
				world.Must(json.Unmarshal([]byte(document), &object.Object))
				objects = append(objects, object)
			}
		}
	}
	return objects, ""
}

// write puts objects into the shoot, and removes those of the same ManagedResource that are no longer
// among them.
func (s *Seed) write(by string, objects []*unstructured.Unstructured) (list []gardener.ManagedObject) {
	left := map[string]bool{}
	for at, object := range s.shoot {
		left[at] = object.by == by
	}
	for _, object := range objects {
		at := place(object.GetKind(), object.GetNamespace(), object.GetName())
		delete(left, at)
		present, exists := s.shoot[at]
		if object.GetAnnotations()[gardener.ModeAnnotation] == gardener.ModeIgnore {
			if exists && present.by == by {
				s.shoot[at] = placed{text: present.text, origin: by}
			}
			continue
		}
		list = append(list, gardener.ManagedObject{APIVersion: object.GetAPIVersion(), Kind: object.GetKind(), Namespace: object.GetNamespace(), Name: object.GetName()})
		text := string(store.Encoded(object.Object["spec"])) + string(store.Encoded(object.Object["data"]))
		if exists && object.GetAnnotations()[gardener.IgnoreAnnotation] == "true" {
			text = present.text
		}
		s.checkReplaced(by, at, present, text, exists)
		s.shoot[at] = placed{text: text, by: by, origin: by}
	}
	for _, at := range slices.Sorted(maps.Keys(left)) {
		if left[at] {
			s.world.Note("the resource manager removes %s, which %s has no more", at, by)
			delete(s.shoot, at)
		}
	}
	return list
}

// drop ends a ManagedResource that is being deleted, with its objects unless they are to be kept.
func (s *Seed) drop(resource *gardener.ManagedResource) {
	keeps := resource.Spec.KeepObjects != nil && *resource.Spec.KeepObjects
	s.world.Note("the resource manager ends %s, and keeps its objects: %t", resource.Name, keeps)
	if !keeps {
		s.checkDropped(resource)
	}
	for _, at := range slices.Sorted(maps.Keys(s.shoot)) {
		switch object := s.shoot[at]; {
		case object.by != resource.Name:
		case keeps:
			s.shoot[at] = placed{text: object.text, origin: resource.Name}
		default:
			delete(s.shoot, at)
		}
	}
	next := resource.DeepCopy()
	next.Finalizers = nil
	world.Must(s.world.Store.Update(next, false))
}

// RoundTrip implements http.RoundTripper: it is the API server of the shoot.
func (s *Seed) RoundTrip(request *http.Request) (*http.Response, error) {
	w, p := s.world, s.world.At
	w.Counts.Reads++
	w.Others(p)
	defer w.Others(p)
	switch {
	case p.Ended() || w.Fault(world.FaultDown) || w.Fault(world.FaultLost):
		return nil, world.ErrDown
	case w.Fault(world.FaultConflict):
		return world.Answer(request, http.StatusServiceUnavailable, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": http.StatusServiceUnavailable}), nil
	}
	parts := strings.Split(strings.Trim(request.URL.Path, "/"), "/")
	if len(parts) < 4 {
		panic("the model knows no " + request.URL.Path)
	}
	namespace, name := parts[len(parts)-3], parts[len(parts)-1]
	kind := map[string]string{"gitrepositories": "GitRepository", "kustomizations": "Kustomization", "secrets": "Secret"}[parts[len(parts)-2]]
	found, exists := s.shoot[place(kind, namespace, name)]
	if !exists {
		return world.Answer(request, http.StatusNotFound, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": http.StatusNotFound}), nil
	}
	return world.Answer(request, http.StatusOK, map[string]any{
		"apiVersion": strings.Join(parts[1:len(parts)-4], "/"), "kind": kind,
		"metadata": map[string]any{"namespace": namespace, "name": name, "generation": 1, "annotations": map[string]any{gardener.OriginAnnotation: "seed:" + world.SeedSpace + "/" + found.origin}},
		"status":   map[string]any{"observedGeneration": 1, "conditions": []any{map[string]any{"type": "Ready", "status": "True", "observedGeneration": 1}}},
	}), nil
}

// Fill writes what gardenlet does before there is an Extension: the Secret with the address of the
// shoot, and one to which the Shoot refers.
func (s *Seed) Fill() {
	address := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],"clusters":[{"name":"c","cluster":{"server":"https://shoot.example.org"}}],"users":[{"name":"u","user":{"tokenFile":"t"}}]}`)
	for name, data := range map[string]map[string][]byte{"generic": {"kubeconfig": address}, gardener.ReferencePrefix + "extra": {"password": []byte(world.SecretMark)}} {
		secret := &corev1.Secret{Data: data}
		secret.Namespace, secret.Name, secret.Labels = world.SeedSpace, name, map[string]string{world.OfUsers: "true"}
		world.Must(s.world.Store.Create(secret))
	}
	s.describe()
}

// describe writes the Cluster, which says what the shoot is like.
func (s *Seed) describe() {
	shoot := map[string]any{
		"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot",
		"metadata": map[string]any{"name": "lab", "namespace": "garden-lab", "annotations": map[string]any{lifecycle.RequestAnnotation: s.wanted.asks}},
		"spec": map[string]any{
			"hibernation": map[string]any{"enabled": s.hibernates},
			"resources":   []any{map[string]any{"name": "extra", "resourceRef": map[string]any{"apiVersion": "v1", "kind": "Secret", "name": "extra"}}},
		},
		"status": map[string]any{"technicalID": world.SeedSpace},
	}
	cluster := &gardener.Cluster{}
	cluster.Name, cluster.Labels = world.SeedSpace, map[string]string{world.OfUsers: "true"}
	cluster.Annotations = map[string]string{gardener.GenericKubeconfigAnnotation: "generic"}
	cluster.Spec.Shoot.Raw = store.Encoded(shoot)
	if _, err := s.world.Store.Get("Cluster", client.ObjectKeyFromObject(cluster)); err != nil {
		world.Must(s.world.Store.Create(cluster))
		return
	}
	world.Must(s.world.Store.Update(cluster, false))
}
