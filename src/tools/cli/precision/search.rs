//! The search for the nodes that must stay in f32.

use std::{collections::VecDeque, iter};

/// Returns nodes, as few as are found, without which the narrow type is not near enough: if just
/// these stay in f32, `is_near` holds. It must hold if all do.
///
/// Groups of nodes are narrowed one after the other, first halves of all, then halves of those that
/// were too much. So a model of n nodes of which k must stay takes about 2 k log(n / k) trials.
pub(super) fn fewest<E>(
    nodes: &[String],
    mut is_near: impl FnMut(&[String]) -> Result<bool, E>,
) -> Result<Vec<String>, E> {
    let mut is_wide = vec![true; nodes.len()];
    let mut groups: VecDeque<_> = iter::once(0..nodes.len()).collect();
    while let Some(group) = groups.pop_front() {
        if group.is_empty() {
            continue;
        }
        is_wide[group.clone()].fill(false);
        let wide = nodes.iter().zip(&is_wide).filter(|(_, is_wide)| **is_wide);
        let wide: Vec<String> = wide.map(|(node, _)| node.clone()).collect();
        if is_near(&wide)? {
            continue;
        }
        is_wide[group.clone()].fill(true);
        if group.len() > 1 {
            let middle = group.start + group.len() / 2;
            groups.extend([group.start..middle, middle..group.end]);
        }
    }
    Ok(nodes.iter().zip(is_wide).filter(|(_, is_wide)| *is_wide).map(|(node, _)| node.clone()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(sensitive: &[usize], most: usize) -> (Vec<usize>, usize) {
        let nodes: Vec<String> = (0..64).map(|node| node.to_string()).collect();
        let mut trials = 0;
        let wide = fewest::<()>(&nodes, |wide| {
            trials += 1;
            // Some nodes alone are too much, and so are many.
            let is_wide = |node: &usize| wide.contains(&node.to_string());
            Ok(sensitive.iter().all(is_wide) && nodes.len() - wide.len() <= most)
        });
        (wide.unwrap().iter().map(|node| node.parse().unwrap()).collect(), trials)
    }

    #[test]
    fn nodes_that_alone_are_too_much_stay() {
        assert_eq!(found(&[], 64), (vec![], 1));
        assert_eq!(found(&[5], 64).0, [5]);
        let (wide, trials) = found(&[0, 17, 63], 64);
        assert_eq!(wide, [0, 17, 63]);
        assert!(trials <= 40, "{trials}");
    }

    #[test]
    fn nodes_that_together_are_too_much_stay_in_part() {
        let (wide, _) = found(&[], 48);
        assert_eq!(wide.len(), 16);
        assert_eq!(found(&[], 0).0.len(), 64);
    }

    #[test]
    fn errors_end_the_search() {
        assert_eq!(fewest(&["a".to_owned()], |_| Err("broken")), Err("broken"));
        assert_eq!(fewest(&[], |_| Err("broken")), Ok(vec![]));
    }
}
