package alerts

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// dashboard is what is checked of a dashboard of Grafana.
type dashboard struct {
	Title, UID string
	Panels     []struct {
		ID                       int
		Title, Type, Description string
		GridPos                  struct{ X, Y, W, H int }
		Targets                  []struct{ Expr, RefID string }
	}
}

// dashboards returns the expressions of all dashboards by their panels.
func dashboards(t *testing.T) map[string][]string {
	t.Helper()
	expressions := map[string][]string{}
	for name, board := range readDashboards(t) {
		for _, panel := range board.Panels {
			for _, target := range panel.Targets {
				// Grafana puts the step of a picture there, and what the user has chosen.
				text := strings.NewReplacer("$__rate_interval", "5m", "$namespace", "").Replace(target.Expr)
				expressions[name+": "+panel.Title] = append(expressions[name+": "+panel.Title], text)
			}
		}
	}
	return expressions
}

func readDashboards(t *testing.T) map[string]dashboard {
	t.Helper()
	files, err := filepath.Glob(folder + "dashboards/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no dashboards: %v", err)
	}
	all := map[string]dashboard{}
	for _, file := range files {
		var board dashboard
		if err := json.Unmarshal([]byte(read(t, file)), &board); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all[filepath.Base(file)] = board
	}
	return all
}

// TestDashboards: each panel has a title, a question and a place of its own.
func TestDashboards(t *testing.T) {
	for name, board := range readDashboards(t) {
		if board.Title == "" || board.UID == "" {
			t.Errorf("%s has no title or no uid", name)
		}
		taken, ids := map[[2]int]string{}, map[int]bool{}
		for _, panel := range board.Panels {
			if panel.Title == "" || ids[panel.ID] || panel.Type != "row" && (len(panel.Targets) == 0 || panel.Description == "") {
				t.Errorf("%s: panel %d %q has no title, question or description, or no ID of its own", name, panel.ID, panel.Title)
			}
			ids[panel.ID] = true
			for x := panel.GridPos.X; x < panel.GridPos.X+panel.GridPos.W; x++ {
				for y := panel.GridPos.Y; y < panel.GridPos.Y+panel.GridPos.H; y++ {
					if other := taken[[2]int{x, y}]; other != "" || x >= 24 {
						t.Errorf("%s: %q lies over %q, or outside", name, panel.Title, other)
					}
					taken[[2]int{x, y}] = panel.Title
				}
			}
		}
	}
}
