package model

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
)

// seedSpace is the namespace of the shoot on its seed.
const seedSpace = "shoot--lab"

// resourceManager is the finalizer of the one who carries ManagedResources to the shoot.
const resourceManager = "resources.gardener.cloud/gardener-resource-manager"

// placed is an object in the shoot.
type placed struct {
	text string
	// by is the ManagedResource that it is a part of; empty if it is left to the owner of the shoot.
	// An annotation has the last one, its origin.
	by, origin string
}

// seed is a shoot with what is beside it on its seed: the resource manager, and gardenlet.
type seed struct {
	world *world
	// shoot are the objects in the shoot by kind, namespace and name.
	shoot map[string]placed
	// wanted is what the owner asks for, and applied what the last success was about.
	wanted, applied order
	hibernates      bool
	// asked is how often gardenlet has written.
	asked int
	// kept is the state of a shoot that is on its way to another seed.
	kept *gardener.ExtensionStatus
	// late are the objects that replicas have created after they were replaced.
	late map[types.UID]bool
}

func newSeed(w *world) *seed {
	return &seed{world: w, shoot: map[string]placed{}, late: map[types.UID]bool{}}
}

// place is the name of an object in the shoot.
func place(kind, namespace, name string) string { return kind + " " + namespace + "/" + name }

// tasks are what gardenlet and the resource manager have to do.
func (s *seed) tasks() (tasks []func()) {
	if s.departed() {
		tasks = append(tasks, s.depart)
	}
	if s.hibernates || !s.world.rates.shoots {
		return tasks // the resource manager does not run
	}
	objects := s.world.store.objects
	for _, key := range keysOf(objects["ManagedResource"]) {
		resource := objects["ManagedResource"][key].(*gardener.ManagedResource)
		switch {
		case resource.DeletionTimestamp != nil && len(resource.Finalizers) > 0:
			tasks = append(tasks, func() { s.drop(resource) })
		case resource.DeletionTimestamp != nil:
		case len(resource.Finalizers) == 0:
			tasks = append(tasks, func() {
				next := resource.DeepCopy()
				next.Finalizers = []string{resourceManager}
				must(s.world.store.update(next, false))
			})
		case resource.Status.ObservedGeneration != resource.Generation || !isTrue(resource, gardener.ResourcesHealthy):
			tasks = append(tasks, func() { s.carry(resource) })
		}
	}
	token := types.NamespacedName{Namespace: seedSpace, Name: access.TokenSecret}
	if asked, _ := objects["Secret"][token].(*corev1.Secret); asked != nil && len(asked.Data) == 0 {
		tasks = append(tasks, func() {
			next := asked.DeepCopy()
			next.Data = map[string][]byte{"token": []byte(secretMark)}
			must(s.world.store.update(next, false))
		})
	}
	return tasks
}

func isTrue(resource *gardener.ManagedResource, kind string) bool {
	found := gardener.FindCondition(resource.Status.Conditions, kind)
	return found != nil && found.Status == gardener.ConditionTrue
}

// carry brings the contents of a ManagedResource to the shoot, or fails, or is not ready with it yet.
func (s *seed) carry(resource *gardener.ManagedResource) {
	w, next := s.world, resource.DeepCopy()
	applied, healthy := true, !w.calm && w.random.IntN(3) > 0 || w.calm
	reason, said := "ApplySucceeded", "all is well"
	contents, missing := s.contents(resource)
	switch {
	case missing != "" && s.late[resource.UID]:
		// The next replica may have deleted the Secret: it removes the ManagedResource as well, or writes
		// the Secret anew for another Extension.
		applied, healthy, reason, said = false, false, "CannotReadSecret", missing+" does not exist"
	case missing != "":
		w.violate("ManagedResource %s names Secret %s, which does not exist", resource.Name, missing)
	case !w.calm && w.random.IntN(6) == 0:
		applied, healthy, reason, said = false, false, "ApplyFailed", "it does not go"
		if resource.Name == lifecycle.DataName {
			said = "cannot write " + secretMark
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
		next.Status.Conditions = gardener.SetCondition(next.Status.Conditions, condition, now())
	}
	slices.SortFunc(next.Status.Conditions, func(a, b gardener.Condition) int { return strings.Compare(a.Type, b.Type) })
	w.note("the resource manager carries %s: %t %t", resource.Name, applied, healthy)
	if raw, before := encoded(next.Status), encoded(resource.Status); !bytes.Equal(raw, before) {
		next.Status = gardener.ManagedResourceStatus{}
		must(json.Unmarshal(raw, &next.Status))
		w.mention(func() { must(w.store.update(next, true)) })
	}
}

// mention writes a status that may say anything: it is not of a controller.
func (w *world) mention(write func()) {
	show := w.store.show
	w.store.show = func(string, string) {}
	write()
	w.store.show = show
}

// contents are the objects of a ManagedResource, or the name of a Secret that is missing.
func (s *seed) contents(resource *gardener.ManagedResource) (objects []*unstructured.Unstructured, missing string) {
	for _, reference := range resource.Spec.SecretRefs {
		secret, _ := s.world.store.objects["Secret"][types.NamespacedName{Namespace: resource.Namespace, Name: reference.Name}].(*corev1.Secret)
		if secret == nil {
			return nil, reference.Name
		}
		for _, key := range slices.Sorted(maps.Keys(secret.Data)) {
			for document := range strings.SplitSeq(string(secret.Data[key]), "---\n") {
				if strings.TrimSpace(document) == "" {
					continue
				}
				object := &unstructured.Unstructured{}
				must(json.Unmarshal([]byte(document), &object.Object))
				objects = append(objects, object)
			}
		}
	}
	return objects, ""
}

// write puts objects into the shoot, and removes those of the same ManagedResource that are no longer
// among them.
func (s *seed) write(by string, objects []*unstructured.Unstructured) (list []gardener.ManagedObject) {
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
		text := string(encoded(object.Object["spec"])) + string(encoded(object.Object["data"]))
		if exists && object.GetAnnotations()[gardener.IgnoreAnnotation] == "true" {
			text = present.text
		}
		s.checkReplaced(by, at, present, text, exists)
		s.shoot[at] = placed{text: text, by: by, origin: by}
	}
	for _, at := range slices.Sorted(maps.Keys(left)) {
		if left[at] {
			s.world.note("the resource manager removes %s, which %s has no more", at, by)
			delete(s.shoot, at)
		}
	}
	return list
}

// drop ends a ManagedResource that is being deleted, with its objects unless they are to be kept.
func (s *seed) drop(resource *gardener.ManagedResource) {
	keeps := resource.Spec.KeepObjects != nil && *resource.Spec.KeepObjects
	s.world.note("the resource manager ends %s, and keeps its objects: %t", resource.Name, keeps)
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
	must(s.world.store.update(next, false))
}

// RoundTrip implements http.RoundTripper: it is the API server of the shoot.
func (s *seed) RoundTrip(request *http.Request) (*http.Response, error) {
	w, p := s.world, s.world.at
	w.counts.reads++
	w.others(p)
	defer w.others(p)
	switch {
	case p.ended() || w.fault(faultDown) || w.fault(faultLost):
		return nil, errDown
	case w.fault(faultConflict):
		return answer(request, http.StatusServiceUnavailable, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": http.StatusServiceUnavailable}), nil
	}
	parts := strings.Split(strings.Trim(request.URL.Path, "/"), "/")
	if len(parts) < 4 {
		panic("the model knows no " + request.URL.Path)
	}
	namespace, name := parts[len(parts)-3], parts[len(parts)-1]
	kind := map[string]string{"gitrepositories": "GitRepository", "kustomizations": "Kustomization", "secrets": "Secret"}[parts[len(parts)-2]]
	found, exists := s.shoot[place(kind, namespace, name)]
	if !exists {
		return answer(request, http.StatusNotFound, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": http.StatusNotFound}), nil
	}
	return answer(request, http.StatusOK, map[string]any{
		"apiVersion": strings.Join(parts[1:len(parts)-4], "/"), "kind": kind,
		"metadata": map[string]any{"namespace": namespace, "name": name, "generation": 1, "annotations": map[string]any{gardener.OriginAnnotation: "seed:" + seedSpace + "/" + found.origin}},
		"status":   map[string]any{"observedGeneration": 1, "conditions": []any{map[string]any{"type": "Ready", "status": "True", "observedGeneration": 1}}},
	}), nil
}

// fill writes what gardenlet does before there is an Extension: the Secret with the address of the
// shoot, and one to which the Shoot refers.
func (s *seed) fill() {
	address := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],"clusters":[{"name":"c","cluster":{"server":"https://shoot.example.org"}}],"users":[{"name":"u","user":{"tokenFile":"t"}}]}`)
	for name, data := range map[string]map[string][]byte{"generic": {"kubeconfig": address}, gardener.ReferencePrefix + "extra": {"password": []byte(secretMark)}} {
		secret := &corev1.Secret{Data: data}
		secret.Namespace, secret.Name, secret.Labels = seedSpace, name, map[string]string{ofUsers: "true"}
		must(s.world.store.create(secret))
	}
	s.describe()
}

// describe writes the Cluster, which says what the shoot is like.
func (s *seed) describe() {
	shoot := map[string]any{
		"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot",
		"metadata": map[string]any{"name": "lab", "namespace": "garden-lab", "annotations": map[string]any{lifecycle.RequestAnnotation: s.wanted.asks}},
		"spec": map[string]any{
			"hibernation": map[string]any{"enabled": s.hibernates},
			"resources":   []any{map[string]any{"name": "extra", "resourceRef": map[string]any{"apiVersion": "v1", "kind": "Secret", "name": "extra"}}},
		},
		"status": map[string]any{"technicalID": seedSpace},
	}
	cluster := &gardener.Cluster{}
	cluster.Name, cluster.Labels = seedSpace, map[string]string{ofUsers: "true"}
	cluster.Annotations = map[string]string{gardener.GenericKubeconfigAnnotation: "generic"}
	cluster.Spec.Shoot.Raw = encoded(shoot)
	if _, err := s.world.store.get("Cluster", client.ObjectKeyFromObject(cluster)); err != nil {
		must(s.world.store.create(cluster))
		return
	}
	must(s.world.store.update(cluster, false))
}
