package execution

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/siblings/itemorder"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
	"go.landscaper.dev/internal/runtime/reporter"
)

// single sorts the items, and takes those out of a deployment that have the name of another one.
// Another release may have left them.
//
// They stay as they are: they may have deployed the very objects that the item deploys which
// counts. A duplicate that another client has deleted is uninstalled like an item that is no longer
// wanted, and all of them are deleted with the Execution.
func (s *snapshot) single() {
	recorded := map[string]string{}
	if cache := s.exec.Status.DeployItemCache; cache != nil {
		for _, pair := range cache.ActiveDIs {
			recorded[pair.SpecName] = pair.ObjectName
		}
	}
	slices.SortFunc(s.items, func(a, b *v1alpha1.DeployItem) int {
		return cmp.Or(strings.Compare(itemorder.NameOf(a), itemorder.NameOf(b)), job.CompareDuplicates(a, b, recorded[itemorder.NameOf(a)]))
	})
	if s.exec.DeletionTimestamp != nil {
		return
	}
	wanted := make(map[string]bool, len(s.templates))
	for i := range s.templates {
		wanted[s.templates[i].Name] = true
	}
	var counted []*v1alpha1.DeployItem
	for i, item := range s.items {
		again := i > 0 && itemorder.NameOf(s.items[i-1]) == itemorder.NameOf(item)
		if again && wanted[itemorder.NameOf(item)] && item.DeletionTimestamp == nil {
			s.duplicates = append(s.duplicates, item)
			continue
		}
		counted = append(counted, item)
	}
	s.items = counted
}

// noteDuplicates reports in the status, and with the next transition by an event, which items do
// not count, and what to do about them.
func (s *snapshot) noteDuplicates(subject *reporter.Subject, now metav1.Time) {
	if len(s.duplicates) == 0 {
		job.DropCondition(subject.Status.Conditions, v1alpha1.DuplicateItemsCondition)
		return
	}
	counts := map[string]string{}
	for _, item := range s.items {
		if counts[itemorder.NameOf(item)] == "" {
			counts[itemorder.NameOf(item)] = item.Name
		}
	}
	var said []string
	for _, item := range s.duplicates {
		said = append(said, fmt.Sprintf("DeployItem %s has the name of item %q as well, for which DeployItem %s counts: no job reaches DeployItem %s, and it is uninstalled with the Execution; delete it, with the annotation %s: \"true\" if what it has deployed shall stay",
			item.Name, itemorder.NameOf(item), counts[itemorder.NameOf(item)], item.Name, v1alpha1.DeleteWithoutUninstallAnnotation))
	}
	subject.Status.SetTrue(v1alpha1.DuplicateItemsCondition, reasons.DuplicateItems, strings.Join(said, "; "), now)
	subject.Warn(reasons.DuplicateItems, said)
}
