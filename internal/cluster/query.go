package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"

	"go.landscaper.dev/internal/cluster/answerlimit"
	"go.landscaper.dev/internal/cluster/clustererror"
)

const (
	// pageSize is how many objects one answer holds.
	pageSize = 500
	// maxPages is how many pages a list may have: they may be almost empty.
	maxPages = 1_000
	// maxID is how long the identity or the version of an object may be.
	maxID = 128
	// maxListing is how long the pages of a list may take until the last one is begun.
	maxListing = time.Minute
)

// KindOf returns the kind that a name means: the kind itself, its resource, the singular or a short
// form of that, in any case. An unknown name is returned as a kind: no object has it.
func (c *Connection) KindOf(ctx context.Context, version schema.GroupVersion, name string) (kind schema.GroupVersionKind, err error) {
	kind = version.WithKind(name)
	var resources *metav1.APIResourceList
	err = c.try(ctx, func(ctx context.Context) error {
		resources, err = c.discovery.ServerResourcesForGroupVersionWithContext(ctx, version.String())
		return err
	})
	if apierrors.IsNotFound(err) {
		return kind, nil
	}
	if err != nil {
		return kind, fmt.Errorf("ask for the resources of %s: %w", version, err)
	}
	for _, resource := range resources.APIResources {
		names := append([]string{resource.Kind, resource.Name, resource.SingularName}, resource.ShortNames...)
		if slices.ContainsFunc(names, func(known string) bool { return strings.EqualFold(known, name) }) {
			return version.WithKind(resource.Kind), nil
		}
	}
	return kind, nil
}

// List reads the objects with some labels, in a namespace or in all of them.
func (c *Connection) List(ctx context.Context, mapping *meta.RESTMapping, namespace string, selector labels.Set) ([]*unstructured.Unstructured, error) {
	// The pages stay in memory until the last one.
	ctx, _, end := answerlimit.WithLoan(ctx, c.memory)
	defer end()
	return pages(time.Now, func(options metav1.ListOptions) (objects []*unstructured.Unstructured, next string, err error) {
		options.LabelSelector = selector.String()
		err = c.try(ctx, func(ctx context.Context) error {
			list, err := c.objects(mapping, namespace).List(ctx, options)
			if err != nil {
				return err
			}
			next = list.GetContinue()
			for i := range list.Items {
				objects = append(objects, &list.Items[i])
			}
			return nil
		})
		return objects, next, err
	})
}

// ListSome reads objects with some labels, but no more than limit, in one request.
func (c *Connection) ListSome(ctx context.Context, mapping *meta.RESTMapping, namespace string, selector labels.Set, limit int64) (objects []*unstructured.Unstructured, err error) {
	ctx, _, end := answerlimit.WithLoan(ctx, c.memory)
	defer end()
	err = c.try(ctx, func(ctx context.Context) error {
		list, err := c.objects(mapping, namespace).List(ctx, metav1.ListOptions{LabelSelector: selector.String(), Limit: limit})
		if err != nil {
			return err
		}
		for i := range list.Items[:min(len(list.Items), int(limit))] {
			objects = append(objects, &list.Items[i])
		}
		return nil
	})
	return objects, err
}

// ListMetadata reads the metadata of all objects of a kind, in a namespace or in all
// of them.
func (c *Connection) ListMetadata(ctx context.Context, mapping *meta.RESTMapping, namespace string) ([]*unstructured.Unstructured, error) {
	// The pages stay in memory until the last one.
	ctx, _, end := answerlimit.WithLoan(ctx, c.memory)
	defer end()
	return pages(time.Now, func(options metav1.ListOptions) (objects []*unstructured.Unstructured, next string, err error) {
		err = c.try(ctx, func(ctx context.Context) error {
			list, err := c.metadata.Resource(mapping.Resource).Namespace(namespace).List(ctx, options)
			if err != nil {
				return err
			}
			next = list.GetContinue()
			for i := range list.Items {
				content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&list.Items[i])
				if err != nil {
					return fmt.Errorf("read the metadata of %s: %w", list.Items[i].Name, err)
				}
				object := &unstructured.Unstructured{Object: content}
				object.SetGroupVersionKind(mapping.GroupVersionKind)
				objects = append(objects, object)
			}
			return nil
		})
		return objects, next, err
	})
}

// pages collects the pages of a list.
//
// A continuation lives as long as the API server keeps the version that the list began with, some
// minutes. The limits end the list of a server that always claims further pages.
func pages(now func() time.Time, read func(metav1.ListOptions) ([]*unstructured.Unstructured, string, error)) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	options := metav1.ListOptions{Limit: pageSize}
	began := now()
	for range maxPages {
		objects, next, err := read(options)
		if err != nil {
			return nil, err
		}
		all = append(all, objects...)
		if next == "" {
			return all, nil
		}
		if len(all) > answerlimit.MaxListed {
			return nil, fmt.Errorf("there are more than %d objects: limit them by namespace or name", answerlimit.MaxListed)
		}
		if now().Sub(began) > maxListing {
			return nil, fmt.Errorf("the list has not ended after %s: limit it by namespace or name", maxListing)
		}
		options.Continue = next
	}
	return nil, fmt.Errorf("the list has more than %d pages: check that the address in the Target is that of an API server", maxPages)
}

// Listing is a list of objects that is complete.
type Listing[T any] struct {
	Objects []T
	// Version is the version of the last page.
	Version string
}

// ListReduced reads all objects of a kind in a namespace, and keeps the result of reduce for each:
// the dropped parts may have any size. A list that is not complete, or of another kind, is an
// error. Large objects are read in smaller pages. No discovery is needed.
func ListReduced[T any](ctx context.Context, c *Connection, kind schema.GroupVersionKind, resource schema.GroupVersionResource, namespace string, reduce func(*unstructured.Unstructured) (T, error)) (*Listing[T], error) {
	if problems := content.IsPathSegmentName(namespace); namespace == "" || len(problems) > 0 {
		return nil, errors.New("the namespace has no valid name")
	}
	listing, count, seen, limit := &Listing[T]{}, 0, map[string]bool{}, int64(pageSize)
	read := func(options metav1.ListOptions) (next string, err error) {
		err = c.try(ctx, func(ctx context.Context) error {
			list, err := c.dynamic.Resource(resource).Namespace(namespace).List(ctx, options)
			if err != nil {
				return err
			}
			if count += len(list.Items); count > answerlimit.MaxListed {
				return &answerlimit.TooLarge{What: "the list of " + resource.Resource}
			}
			next, listing.Version = list.GetContinue(), list.GetResourceVersion()
			if err := plausible(list, kind, namespace); err != nil {
				return err
			}
			for i := range list.Items {
				name := list.Items[i].GetName()
				if seen[name] {
					return clustererror.ErrIncomplete
				}
				seen[name] = true
				reduced, err := reduce(&list.Items[i])
				if err != nil {
					return err
				}
				listing.Objects = append(listing.Objects, reduced)
			}
			return nil
		})
		return next, err
	}
	_, err := pages(time.Now, func(options metav1.ListOptions) (none []*unstructured.Unstructured, next string, err error) {
		var large *answerlimit.TooLarge
		for {
			options.Limit = limit
			next, err = read(options)
			if !errors.As(err, &large) || limit == 1 || count > answerlimit.MaxListed {
				break
			}
			limit = max(limit/10, 1)
		}
		return nil, next, err
	})
	if err != nil {
		return nil, err
	}
	return listing, nil
}

// plausible says whether a page of a list can be trusted: a caller that takes the list as complete
// would delete what is missing in it.
//
// An API server names kind and version of each list, and objects with names, identities and the
// namespace that was asked for; a proxy that answers an empty page does not.
func plausible(list *unstructured.UnstructuredList, kind schema.GroupVersionKind, namespace string) error {
	left := list.GetRemainingItemCount()
	if list.GroupVersionKind() != kind.GroupVersion().WithKind(kind.Kind+"List") || list.GetResourceVersion() == "" || list.GetContinue() == "" && left != nil && *left > 0 {
		return clustererror.ErrIncomplete
	}
	for i := range list.Items {
		if item := &list.Items[i]; len(utilvalidation.IsDNS1123Subdomain(item.GetName())) > 0 || item.GetUID() == "" || len(item.GetUID()) > maxID || len(item.GetResourceVersion()) > maxID || item.GetNamespace() != namespace {
			return clustererror.ErrIncomplete
		}
	}
	return nil
}

// ApplyOptions are the options of Apply.
type ApplyOptions struct {
	// Owner is the field manager.
	Owner string
	// Force takes over fields of other field managers.
	Force bool
	// DryRun changes nothing.
	DryRun bool
}

// Apply lets the API server merge an object into what is stored, and returns what is
// stored.
func (c *Connection) Apply(ctx context.Context, mapping *meta.RESTMapping, object *unstructured.Unstructured, options ApplyOptions) (stored *unstructured.Unstructured, err error) {
	asked := metav1.ApplyOptions{FieldManager: options.Owner, Force: options.Force}
	if options.DryRun {
		asked.DryRun = []string{metav1.DryRunAll}
	}
	err = c.try(ctx, func(ctx context.Context) error {
		stored, err = c.objects(mapping, object.GetNamespace()).Apply(ctx, object.GetName(), object, asked)
		return err
	})
	return stored, err
}
