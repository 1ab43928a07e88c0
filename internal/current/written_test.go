package current

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestWritten(t *testing.T) {
	object := func(version string) metav1.Object {
		return &metav1.ObjectMeta{UID: "u", ResourceVersion: version}
	}
	var written Written
	if !written.Fresh(object("5")) {
		t.Error("what was never written is fresh")
	}
	written.Record(object("10"))
	written.Record(object("9"))
	if written.Fresh(object("9")) {
		t.Error("an older version is not fresh")
	}
	if !written.Fresh(object("10")) || !written.Fresh(object("9")) {
		t.Error("once the cache has caught up, nothing is remembered")
	}
	written.Record(object("no number"))
	if !written.Fresh(object("no number")) {
		t.Error("what is no number cannot be compared")
	}
	written.Record(object("20"))
	written.Forget("u")
	if !written.Fresh(object("1")) {
		t.Error("what is gone is forgotten")
	}
}
