package preview

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/model/ownership"
	"go.landscaper.dev/internal/model/placement"
)

// inUse says why a Namespace or the definition of a kind stays although no item wants it: an item has
// something in it after the jobs, and had it before them. It is empty for all else.
func (c *comparison) inUse(ctx context.Context, from *task, live *unstructured.Unstructured) string {
	if !ownership.HasContent(live) {
		return ""
	}
	for _, t := range c.tasks {
		who := "deploy item " + t.item.Path
		if t == from {
			who = "the deploy item itself"
		} else if t.removal || t.object == nil || c.relation(ctx, t, from) != placement.SameCluster {
			continue
		}
		if content := t.contentOf(live); content != "" {
			return "as long as " + who + " has " + content + " in it"
		}
	}
	// What cannot be listed decides nothing.
	others, _ := (&neighbors{comparison: c, of: from}).Others(ctx)
	for _, other := range others {
		if content := ownership.ContentOf(other, live); len(content) > 0 {
			return "as long as deploy item " + c.live.pathOf(other.Name) + " has " + content[0].String() + " in it"
		}
	}
	return ""
}

// contentOf names what the item keeps in an object; empty if there is nothing.
func (t *task) contentOf(live *unstructured.Unstructured) string {
	if t.removal {
		return ""
	}
	for _, object := range t.found.Objects {
		exists := object.Before != nil || object.After == nil
		if exists && object.Unknown == "" && !object.Unwanted && object.Cluster == "" && ownership.Within(live, object.Reference()) && !t.expects(object.Reference()) {
			return describe(object)
		}
	}
	foreseen := t.compared && t.err == nil && !t.settled
	for _, content := range ownership.ContentOf(t.object, live) {
		if content.Object.Name == "" || !foreseen {
			return content.String()
		}
	}
	return ""
}

func describe(object diff.Object) string {
	return ownership.Content{Object: object.Reference()}.String()
}
