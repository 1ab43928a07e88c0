package fleet

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
)

// RestWave is the name of the wave of all Targets that no other one takes.
const RestWave = "rest"

// defaultParallel is how many Installations of a wave have a job at once.
const defaultParallel = 10

// wavesOf returns the waves of a Fleet: those of the specification, and the rest.
func wavesOf(spec *fleetv1alpha1.FleetSpec) []fleetv1alpha1.Wave {
	rest := fleetv1alpha1.Wave{Name: RestWave, MaxParallel: math.MaxInt32}
	if spec.Rollout == nil {
		return []fleetv1alpha1.Wave{rest}
	}
	rest.MaxParallel = defaultParallel
	waves := append(slices.Clone(spec.Rollout.Waves), rest)
	for i := range waves {
		if waves[i].MaxParallel == 0 {
			waves[i].MaxParallel = defaultParallel
		}
	}
	return waves
}

// candidate is a Target that is to be in a wave.
type candidate struct {
	name   string
	labels map[string]string
	// wave is the one in which it was changed last; empty if it was not.
	wave string
}

// assign returns the index of the wave of each Target, by its name.
//
// Waves of a number or a share take first what was in them before, then what was in none, then what was
// in others, each in the order of a hash of the name. Shares are rounded up as a sum over all waves so far.
// A wave may have one more or less than its share, so that rounding moves no Target: while the Fleet grows,
// each stays in its wave, unless the waves are changed.
func assign(waves []fleetv1alpha1.Wave, all []candidate) (map[string]int, error) {
	assigned := make(map[string]int, len(all))
	left := slices.Clone(all)
	slices.SortFunc(left, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(order(a.name), order(b.name)), cmp.Compare(a.name, b.name))
	})
	percent := int32(0)
	for index := range waves {
		wave := &waves[index]
		var taken []candidate
		switch {
		case wave.Selector != nil:
			selector, err := metav1.LabelSelectorAsSelector(wave.Selector)
			if err != nil {
				return nil, fmt.Errorf("spec.rollout.waves %s: selector: %w", wave.Name, err)
			}
			taken = pick(left, func(c candidate) bool { return selector.Matches(labels.Set(c.labels)) })
		case wave.Count > 0:
			taken = first(left, wave.Name, int(wave.Count), 0)
		case wave.Percent > 0:
			before := share(len(all), percent)
			percent = min(percent+wave.Percent, 100)
			taken = first(left, wave.Name, share(len(all), percent)-before, 1)
		default:
			taken = left
		}
		for _, one := range taken {
			assigned[one.name] = index
		}
		left = pick(left, func(c candidate) bool { _, is := assigned[c.name]; return !is })
	}
	return assigned, nil
}

// share is a percentage of a number, rounded up.
func share(of int, percent int32) int { return (of*int(percent) + 99) / 100 }

// first takes some candidates for a wave, of which there may be a few more or less.
func first(left []candidate, wave string, count, tolerance int) []candidate {
	had := pick(left, func(c candidate) bool { return c.wave == wave })
	if len(had) >= count {
		return had[:min(len(had), count+tolerance)]
	}
	fresh := pick(left, func(c candidate) bool { return c.wave == "" })
	taken := append(had, fresh[:min(len(fresh), count-len(had))]...)
	if len(taken) == count || len(taken) > 0 && len(taken)+tolerance >= count {
		return taken
	}
	others := pick(left, func(c candidate) bool { return c.wave != "" && c.wave != wave })
	return append(taken, others[:min(len(others), count-len(taken))]...)
}

func pick(of []candidate, which func(candidate) bool) []candidate {
	var picked []candidate
	for _, one := range of {
		if which(one) {
			picked = append(picked, one)
		}
	}
	return picked
}

// order is a place that a name has among all others, whatever the others are.
func order(name string) uint64 {
	sum := sha256.Sum256([]byte(name))
	return binary.BigEndian.Uint64(sum[:8])
}
