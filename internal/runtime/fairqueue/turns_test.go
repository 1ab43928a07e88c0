package fairqueue

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTurns: who is next.
func TestTurns(t *testing.T) {
	type push struct {
		lane, item string
		rank       uint64
	}
	for _, test := range []struct {
		reason string
		before []push
		most   int
		want   []string
	}{
		{"older jobs are first", []push{{"a", "young", 2}, {"a", "old", 1}}, 0, []string{"old", "young"}},
		{"jobs of the same age are in the order of their arrival", []push{{"a", "x", 1}, {"a", "y", 1}}, 0, []string{"x", "y"}},
		{"a lane with older jobs takes turns with others", []push{{"a", "a1", 1}, {"a", "a2", 2}, {"a", "a3", 3}, {"b", "b1", 9}, {"b", "b2", 9}}, 0, []string{"a1", "b1", "a2", "b2", "a3"}},
		{"a lane that is alone gets everything", []push{{"a", "a1", 1}, {"a", "a2", 2}, {"a", "a3", 3}}, 0, []string{"a1", "a2", "a3"}},
		{"a lane with a limit gets no more turns than the limit", []push{{"a", "a1", 1}, {"a", "a2", 2}, {"b", "b1", 1}}, 1, []string{"a1", "b1"}},
		{"a lane that is alone gets no more turns than the limit either", []push{{"a", "a1", 1}, {"a", "a2", 2}, {"a", "a3", 3}}, 2, []string{"a1", "a2"}},
		{"a lane that has its limit does not hold up lanes that came later", []push{{"a", "a1", 1}, {"a", "a2", 2}, {"a", "a3", 3}, {"b", "b1", 9}, {"c", "c1", 9}}, 1, []string{"a1", "b1", "c1"}},
		{"an item that waits already keeps the better rank", []push{{"a", "x", 5}, {"a", "y", 3}, {"a", "x", 1}, {"a", "y", 9}}, 0, []string{"x", "y"}},
		{"without waiting items, nothing is next", nil, 0, nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var turns Queue[string]
			for _, p := range test.before {
				turns.Push(p.lane, p.item, p.rank)
			}
			var got []string
			for {
				item, ok := turns.Next(test.most)
				if !ok {
					break
				}
				got = append(got, item)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%v are next, want %v", got, test.want)
			}
		})
	}
}

// TestTurnsNewcomers: a lane that comes and goes gets no more than one that waits
// all the time.
func TestTurnsNewcomers(t *testing.T) {
	var turns Queue[string]
	for i := range 40 {
		for lane := range 4 {
			turns.Push(fmt.Sprint("steady", lane), fmt.Sprint("s", lane, i), uint64(i))
		}
	}
	count := map[byte]int{}
	for i := range 50 {
		turns.Push("restless", fmt.Sprint("r", i), 0)
		item, _ := turns.Next(0)
		count[item[0]]++
		lane := "restless"
		if item[0] == 's' {
			lane = "steady" + item[1:2]
		}
		turns.Done(lane)
	}
	if count['r'] > 11 {
		t.Errorf("one of five lanes has had %d of 50 turns", count['r'])
	}
}

// TestTurnsAtRandom: whatever happens, nothing is lost, nothing comes twice, no lane
// waits for one that has more, and nothing is kept at the end.
func TestTurnsAtRandom(t *testing.T) {
	const workers = 5
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 0))
		var turns Queue[int]
		waiting, ranks := map[int]string{}, map[int]uint64{}
		var running []string
		for step := range 200 {
			switch lane := fmt.Sprint(random.IntN(4)); random.IntN(5) {
			case 0, 1:
				turns.Push(lane, step, uint64(random.IntN(10)))
				waiting[step] = lane
				ranks[step] = turns.entries[step].rank
			case 2:
				if len(running) == workers {
					continue
				}
				item, ok := turns.Next(0)
				if ok != (len(waiting) > 0) {
					t.Fatalf("seed %d: %d wait, but next says %t", seed, len(waiting), ok)
				}
				if !ok {
					continue
				}
				of := waiting[item]
				delete(waiting, item)
				for other, its := range waiting {
					if count(running, its) < count(running, of) || its == of && ranks[other] < ranks[item] {
						t.Fatalf("seed %d: %d of lane %s comes before %d of lane %s", seed, item, of, other, its)
					}
				}
				running = append(running, of)
			case 3:
				if len(running) > 0 {
					turns.Done(running[0])
					running = running[1:]
				}
			case 4:
				item := random.IntN(step + 1)
				_, known := waiting[item]
				if turns.Remove(item) != known {
					t.Fatalf("seed %d: %d was removed, or not, wrongly", seed, item)
				}
				delete(waiting, item)
			}
			if turns.Len() != len(waiting) {
				t.Fatalf("seed %d: %d wait, want %d", seed, turns.Len(), len(waiting))
			}
		}
		for _, lane := range running {
			turns.Done(lane)
		}
		for item := range waiting {
			turns.Remove(item)
		}
		if len(turns.lanes)+len(turns.entries)+len(turns.waiting) != 0 {
			t.Fatalf("seed %d: something is kept", seed)
		}
		turns.Done("unknown")
	}
}

func count(lanes []string, wanted string) int {
	n := 0
	for _, lane := range lanes {
		if lane == wanted {
			n++
		}
	}
	return n
}
