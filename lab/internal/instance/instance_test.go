package instance

import (
	"errors"
	"strings"
	"testing"
)

func TestLockIsHeldOnceAndSurvivesRemoval(t *testing.T) {
	lab := Instance{Root: t.TempDir(), Name: "lab"}
	lock, err := lab.Lock()
	if err != nil {
		t.Fatal(err)
	}
	if err := lab.Create(Config{Name: "lab", Clusters: []string{"a"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := lab.Lock(); !errors.Is(err, ErrAlive) {
		t.Errorf("second lock: %v, want ErrAlive", err)
	}
	if err := lab.Remove(); err != nil {
		t.Fatal(err)
	}
	// The file with the old lock no longer exists; a new lab has a file of its own.
	second, err := lab.Lock()
	if err != nil {
		t.Fatalf("lock after removal: %v", err)
	}
	_ = lock.Close()
	if _, err := lab.Lock(); !errors.Is(err, ErrAlive) {
		t.Errorf("the end of the old lock freed the new one: %v", err)
	}
	_ = second.Close()
}

func TestConfigIsReadBack(t *testing.T) {
	lab := Instance{Root: t.TempDir(), Name: "lab"}
	if err := lab.Create(Config{Name: "lab", Clusters: []string{"a", "b"}, Git: true}); err != nil {
		t.Fatal(err)
	}
	if config, err := lab.Config(); err != nil || len(config.Clusters) != 2 || !config.Git {
		t.Errorf("config %+v, %v", config, err)
	}
	if labs, err := List(lab.Root); err != nil || len(labs) != 1 || labs[0] != lab {
		t.Errorf("labs %+v, %v", labs, err)
	}
	if err := lab.Create(Config{}); err == nil {
		t.Error("a lab was made over another")
	}
}

func TestCheckName(t *testing.T) {
	for name, valid := range map[string]bool{
		"a": true, "target-1": true, strings.Repeat("a", 40): true,
		"": false, "-a": false, "a-": false, "A": false, "a/b": false, "..": false, strings.Repeat("a", 41): false,
	} {
		if err := CheckName("cluster", name); (err == nil) != valid {
			t.Errorf("%q: %v, want valid %t", name, err, valid)
		}
	}
}
