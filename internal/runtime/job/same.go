package job

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CompareDuplicates orders objects that stand for the same thing, such as two items of one name that
// were taken over from another release. The first one counts: the one that the status of the
// owner has recorded; then one that stays before one that is being deleted; then the oldest; then
// the one with the smaller name. So every attempt, and every process, chooses the same.
func CompareDuplicates(a, b metav1.Object, recorded string) int {
	flag := func(of bool) int {
		if of {
			return 0
		}
		return 1
	}
	return cmp.Or(
		cmp.Compare(flag(a.GetName() == recorded), flag(b.GetName() == recorded)),
		cmp.Compare(flag(a.GetDeletionTimestamp() == nil), flag(b.GetDeletionTimestamp() == nil)),
		a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time),
		cmp.Compare(a.GetName(), b.GetName()),
	)
}
