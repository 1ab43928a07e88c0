package value

// Pair is an element of a list or map with its index or key.
type Pair struct {
	Key  Value
	Node *Node
}

// PairsOf lists the elements of a list or map, without those that are undefined.
func PairsOf(v Value) []Pair {
	var list []Pair
	switch v := v.(type) {
	case *List:
		for i, n := range v.Items {
			if !finishedUndefined(n) {
				list = append(list, Pair{Key: Int(i), Node: n})
			}
		}
	case *Map:
		for i, n := range v.Items {
			if !finishedUndefined(n) {
				list = append(list, Pair{Key: String{Text: v.Keys[i], Data: v.Data}, Node: n})
			}
		}
	}
	return list
}

func finishedUndefined(n *Node) bool {
	_, undefined := n.Value.(Undefined)
	return undefined
}
