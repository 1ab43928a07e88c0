package expectations

import (
	"testing"
	"testing/synctest"
	"time"
)

// counted is a record that others count.
type counted struct{ ended *int }

// End is called when the record is dropped.
func (c *counted) End() {
	if c.ended != nil {
		*c.ended++
	}
}

// TestRecords: an object has one record until it is deleted.
func TestRecords(t *testing.T) {
	var records Records[counted]
	ended := 0
	if records.Find("u") != nil {
		t.Error("a question makes a record")
	}
	records.Of("u").ended = &ended
	records.Of("v")
	if records.Find("u") != records.Of("u") || records.Find("u") == records.Find("v") {
		t.Error("each object has one record")
	}
	records.Forget("u")
	records.Forget("u")
	if records.Find("u") != nil || ended != 1 {
		t.Errorf("the record is dropped %d times", ended)
	}
	if records.Of("u").ended != nil {
		t.Error("a later record has something of an earlier one")
	}
}

// TestRecordsAreSwept: a record that was made after the deletion of its object is dropped when it was
// not asked for in a long time. That of an object at rest, which only a resync reconciles, stays.
func TestRecordsAreSwept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var records Records[counted]
		ended := 0
		records.Of("gone").ended = &ended
		for range 3 {
			// A cache may be late, or leave out a resync while it lists again.
			<-time.After(2 * Resync * 11 / 10)
			records.Of("stays")
		}
		if records.Find("gone") != nil || records.Find("stays") == nil || ended != 1 {
			t.Errorf("left are %v", records.known)
		}
	})
}
