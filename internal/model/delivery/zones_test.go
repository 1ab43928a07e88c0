package delivery

import "testing"

// TestZonesAreLoadedOnce: a time zone is a file, and policies are read with each judgement.
func TestZonesAreLoadedOnce(t *testing.T) {
	first, err := zoneOf("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := zoneOf("Europe/Berlin"); err != nil || again != first {
		t.Errorf("it is loaded again: %v", err)
	}
	if _, err := zoneOf("Europe/Nowhere"); err == nil {
		t.Error("a zone that does not exist is loaded")
	}
	if _, kept := zones.Load("Europe/Nowhere"); kept {
		t.Error("a name that does not exist is kept")
	}
}
